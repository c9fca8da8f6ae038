#include "codec/libjpeg_reader.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

LibjpegReader& reader_of(j_common_ptr info) {
  return *static_cast<LibjpegReader*>(info->client_data);
}

}  // namespace

LibjpegReader::LibjpegReader(std::span<const uint8_t> bytes) {
  info_.err = jpeg_std_error(&errors_);
  info_.client_data = this;
  errors_.error_exit = on_error;
  errors_.emit_message = on_message;
  source_.next_input_byte = bytes.data();
  source_.bytes_in_buffer = bytes.size();
  source_.init_source = [](j_decompress_ptr) {};
  source_.fill_input_buffer = on_empty;
  source_.skip_input_data = on_skip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = [](j_decompress_ptr) {};
}

LibjpegReader::~LibjpegReader() { jpeg_destroy_decompress(&info_); }

void LibjpegReader::fail(const char* message) {
  std::snprintf(message_, sizeof message_, "%s", message);
  std::longjmp(failed_, 1);
}

void LibjpegReader::on_error(j_common_ptr info) {
  char message[JMSG_LENGTH_MAX];
  info->err->format_message(info, message);
  reader_of(info).fail(message);
}

void LibjpegReader::on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace, not a warning
  if (info->err->num_warnings++ == 0) info->err->format_message(info, reader_of(info).message_);
}

boolean LibjpegReader::on_empty(j_decompress_ptr info) {
  reader_of(reinterpret_cast<j_common_ptr>(info)).fail("truncated");
  return FALSE;
}

void LibjpegReader::on_skip(j_decompress_ptr info, long bytes) {
  if (bytes <= 0) return;
  if (static_cast<size_t>(bytes) > info->src->bytes_in_buffer) on_empty(info);
  info->src->next_input_byte += bytes;
  info->src->bytes_in_buffer -= bytes;
}

/// Requires a caller that has set `failed_`.
void LibjpegReader::read_header() {
  jpeg_create_decompress(&info_);
  info_.src = &source_;
  jpeg_read_header(&info_, TRUE);
  if (info_.num_components != 1 && info_.num_components != 3)
    fail("neither gray nor three components");
}

bool LibjpegReader::start(bool luma_alone) {
  if (setjmp(failed_) != 0) return false;
  read_header();
  info_.out_color_space = luma_alone || info_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info_);
  incomplete_ = has_unknown_bits();  // asked now, for finishing frees the answer
  return true;
}

bool LibjpegReader::crop_columns(int& left, int& width) {
  if (setjmp(failed_) != 0) return false;
  JDIMENSION x = left;
  JDIMENSION columns = width;
  jpeg_crop_scanline(&info_, &x, &columns);
  left = static_cast<int>(x);
  width = static_cast<int>(columns);
  return true;
}

bool LibjpegReader::skip_rows(int rows) {
  if (setjmp(failed_) != 0) return false;
  jpeg_skip_scanlines(&info_, rows);
  return true;
}

bool LibjpegReader::read_rows(uint8_t* target, ptrdiff_t stride, int rows) {
  if (setjmp(failed_) != 0) return false;
  const JDIMENSION first = info_.output_scanline;
  const JDIMENSION end = first + rows;
  while (info_.output_scanline < end) {
    JSAMPROW row = target + stride * (info_.output_scanline - first);
    jpeg_read_scanlines(&info_, &row, 1);
  }
  return true;
}

bool LibjpegReader::finish() {
  if (setjmp(failed_) != 0) return false;
  jpeg_finish_decompress(&info_);
  return true;
}

bool LibjpegReader::read_coefficients() {
  if (setjmp(failed_) != 0) return false;
  read_header();
  coefficients_ = jpeg_read_coefficients(&info_);
  incomplete_ = has_unknown_bits();
  for (int c = 0; c < info_.num_components; ++c)
    if (info_.comp_info[c].quant_table == nullptr) fail("a component without a scan");
  return true;
}

bool LibjpegReader::copy_blocks(int16_t* target, int component, int row, int blocks) {
  if (setjmp(failed_) != 0) return false;
  const JBLOCKARRAY rows = info_.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info_),
                                                         coefficients_[component], row, 1, FALSE);
  std::memcpy(target, rows[0], sizeof(JBLOCK) * blocks);
  return true;
}

bool LibjpegReader::has_unknown_bits() const {
  if (!info_.progressive_mode) return false;
  for (int c = 0; c < info_.num_components; ++c) {
    const int* bits = info_.coef_bits[c];
    if (!std::all_of(bits, bits + DCTSIZE2, [](int unknown) { return unknown == 0; })) return true;
  }
  return false;
}

}  // namespace penstock
