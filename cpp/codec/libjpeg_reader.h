// One decompression by libjpeg, with its errors turned into values. Set up as Pillow does it.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

// Needs <cstdio>, and does not say so.
#include <jpeglib.h>

namespace penstock {

/// Every function returns false after a fatal error, whose `message` says what happened; nothing
/// but the destructor may be called then. libjpeg leaves its functions by longjmp, so that no
/// object with a destructor may live in the functions that call it.
class LibjpegReader {
 public:
  explicit LibjpegReader(std::span<const uint8_t> bytes);
  ~LibjpegReader();
  LibjpegReader(const LibjpegReader&) = delete;
  LibjpegReader& operator=(const LibjpegReader&) = delete;

  /// Reads the header. For progressive files also all scans. With `luma_alone`, rows are gray.
  bool start(bool luma_alone = false);
  /// Restricts rows to columns [left, left + width), both of which may be widened.
  bool crop_columns(int& left, int& width);
  bool skip_rows(int rows);
  bool read_rows(uint8_t* target, ptrdiff_t stride, int rows);
  /// Reads to the end of the file.
  bool finish();

  /// Instead of start(): reads the whole file, for the functions below.
  bool read_coefficients();
  /// Copies `blocks` blocks of row `row` of a component, 64 coefficients each, natural order.
  bool copy_blocks(int16_t* target, int component, int row, int blocks);
  /// The table that the component's first scan found, natural order.
  const uint16_t* quant(int component) const {
    return info_.comp_info[component].quant_table->quantval;
  }
  bool is_rgb() const { return info_.jpeg_color_space == JCS_RGB; }

  int height() const { return static_cast<int>(info_.output_height); }
  int width() const { return static_cast<int>(info_.output_width); }
  int channels() const { return info_.out_color_components; }
  int unit_height() const { return 8 * info_.max_v_samp_factor; }
  int unit_width() const { return 8 * info_.max_h_samp_factor; }

  /// True if some coefficients of a progressive file are not known to the last bit; libjpeg then
  /// smooths blocks, in ways that differ between versions.
  bool incomplete() const { return incomplete_; }
  bool warned() const { return info_.err->num_warnings > 0; }
  const char* message() const { return message_; }

 private:
  void fail(const char* message);
  void read_header();
  bool has_unknown_bits() const;
  static void on_error(j_common_ptr info);
  static void on_message(j_common_ptr info, int level);
  static boolean on_empty(j_decompress_ptr info);
  static void on_skip(j_decompress_ptr info, long bytes);

  jpeg_decompress_struct info_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  jvirt_barray_ptr* coefficients_ = nullptr;
  bool incomplete_ = false;
  std::jmp_buf failed_;
  char message_[JMSG_LENGTH_MAX] = "";
};

}  // namespace penstock
