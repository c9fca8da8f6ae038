#include <algorithm>
#include <cstring>

#include "codec/decode_state.h"
#include "codec/jpeg_decode.h"
#include "codec/plane_window.h"
#include "codec/reconstruct.h"
#include "codec/reduced_idct.h"
#include "codec/region_plan.h"
#include "codec/scan_decoder.h"
#include "codec/zigzag.h"

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

/// One region of one image, unit row by unit row: coefficients, samples, then finished bands.
class BaselineDecoder {
 public:
  BaselineDecoder(RowSink& sink, std::span<const uint8_t> bytes, const JpegHeader& header,
                  const Region& region, DecodeScratch::State& state, int scale)
      : sink_(sink),
        header_(header),
        frame_(make_frame(header, scale)),
        region_(region),
        plan_(plan_region(frame_, region)),
        reconstruction_(reconstruction()),
        scan_(bytes, header, prepared(state.tables, header), state.unstuffed),
        next_row_(region.top) {
    begin_coefficients(state.coefficients);
    begin_planes(state.planes);
    if (header.components == 3) begin_colour(state.upsampled, state.band);
  }

  const char* run() {
    if (const char* problem = scan_.skip(int64_t{plan_.first_unit_row} * plan_.units_across))
      return problem;
    for (int row = plan_.first_unit_row; row < plan_.end_unit_row; ++row) {
      const bool last = row + 1 == plan_.end_unit_row;
      if (const char* problem = scan_.skip(plan_.first_unit_column)) return problem;
      if (const char* problem = scan_.store(plan_.stored_units())) return problem;
      if (!last) {
        const int behind = plan_.units_across - plan_.end_unit_column;
        if (const char* problem = scan_.skip(behind)) return problem;
      }
      transform();
      const int complete = (row + 1) * frame_.unit_height - plan_.rows_below;
      emit(last ? region_.top + region_.height : complete);
      if (!last) keep_waiting_rows();
    }
    return nullptr;
  }

 private:
  static const HuffmanTables& prepared(HuffmanTables& tables, const JpegHeader& header) {
    tables.prepare(header);
    return tables;
  }

  const JpegComponent& component(int c) const { return header_.component[c]; }
  int blocks_across(int c) const { return plan_.stored_units() * component(c).horizontal; }
  size_t coefficient_row_size(int c) const {
    return size_t{64} * kBlockGroup * divide_up(blocks_across(c), kBlockGroup);
  }

  void begin_coefficients(Buffer& storage);
  void begin_planes(Buffer (&storage)[3]);
  void begin_colour(Buffer& upsampled, Buffer& band);
  void transform();
  void emit(int end_row);
  void emit_gray(int end_row);
  void emit_colour(int end_row);
  void keep_waiting_rows();

  RowSink& sink_;
  const JpegHeader& header_;
  const Frame frame_;
  const Region region_;
  const RegionPlan plan_;
  const Reconstruction reconstruction_;
  ScanDecoder scan_;
  int16_t* coefficients_[3] = {};
  PlaneWindow window_[3];
  IdctRow idct_row_[3] = {};
  UpsampleRow upsampled_ = {};
  PlanarTarget band_;
  int next_row_;  // of the image, to be sent to the sink
};

void BaselineDecoder::begin_coefficients(Buffer& storage) {
  size_t elements = 0;
  for (int c = 0; c < header_.components; ++c)
    elements += coefficient_row_size(c) * component(c).vertical;
  int16_t* next = storage.reserve<int16_t>(elements);
  std::memset(next, 0, elements * sizeof *next);
  for (int c = 0; c < header_.components; ++c) {
    coefficients_[c] = next;
    const FrameComponent& size = frame_.component[c];
    const int last_wanted = last_zigzag_position(std::max(size.block_height, size.block_width));
    for (int row = 0; row < component(c).vertical; ++row) {
      scan_.set_target(c, row, next, last_wanted);
      next += coefficient_row_size(c);
    }
  }
}

void BaselineDecoder::begin_planes(Buffer (&storage)[3]) {
  for (int c = 0; c < header_.components; ++c) {
    const FrameComponent& size = frame_.component[c];
    const int unit_rows = size.block_height * component(c).vertical;
    const int unit_columns = size.block_width * component(c).horizontal;
    idct_row_[c] = idct_row_to(size.block_height, size.block_width);
    SamplePlane samples;
    samples.height = size.height;
    samples.width = size.width;
    samples.vertical_ratio = size.vertical_ratio;
    samples.horizontal_ratio = size.horizontal_ratio;
    window_[c].begin(storage[c], samples, unit_rows, blocks_across(c), size.block_width,
                     plan_.first_unit_row * unit_rows, plan_.first_unit_column * unit_columns);
  }
}

void BaselineDecoder::begin_colour(Buffer& upsampled, Buffer& band) {
  const size_t upsampled_bytes = region_.width + kUpsampleSlack;
  upsampled_.blue = upsampled.reserve<int8_t>(2 * upsampled_bytes);
  upsampled_.red = upsampled_.blue + upsampled_bytes;
  band_.stride = divide_up(region_.width, kRowSlack) * kRowSlack + kRowSlack;
  band_.width = region_.width;
  band_.channels = 3;
  uint8_t* plane = band.reserve(3 * kBandRows * band_.stride);
  for (uint8_t*& channel : band_.plane) {
    channel = plane;
    plane += kBandRows * band_.stride;
  }
}

void BaselineDecoder::transform() {
  for (int c = 0; c < header_.components; ++c) {
    const ptrdiff_t stride = window_[c].samples().stride;
    const FrameComponent& size = frame_.component[c];
    for (int row = 0; row < component(c).vertical; ++row) {
      idct_row_[c](window_[c].unit() + row * size.block_height * stride, stride,
                   coefficients_[c] + row * coefficient_row_size(c), blocks_across(c),
                   header_.quant[component(c).quant_table], c > 0);
    }
  }
}

/// Sends what is complete above `end_row`, in whole bands unless the region ends there.
void BaselineDecoder::emit(int end_row) {
  const int bottom = region_.top + region_.height;
  if (end_row < bottom) end_row -= std::max(0, end_row - next_row_) % kBandRows;
  end_row = std::min(end_row, bottom);
  if (end_row <= next_row_) return;
  if (header_.components == 1)
    emit_gray(end_row);
  else
    emit_colour(end_row);
  next_row_ = end_row;
}

void BaselineDecoder::emit_gray(int end_row) {
  const SamplePlane& samples = window_[0].samples();
  PlanarView rows;
  rows.plane[0] =
      samples.origin + (next_row_ - samples.top) * samples.stride + (region_.left - samples.left);
  rows.stride = samples.stride;
  rows.height = end_row - next_row_;
  rows.width = region_.width;
  rows.channels = 1;
  sink_.take(rows, next_row_ - region_.top);
}

void BaselineDecoder::emit_colour(int end_row) {
  const SamplePlane chroma[2] = {window_[1].samples(), window_[2].samples()};
  for (int top = next_row_; top < end_row; top += kBandRows) {
    band_.height = std::min(kBandRows, end_row - top);
    for (int y = 0; y < band_.height; ++y) {
      reconstruction_.rgb_row(band_.row(0, y), band_.row(1, y), band_.row(2, y),
                              window_[0].samples(), chroma, top + y, region_.left,
                              region_.left + region_.width, upsampled_);
    }
    sink_.take(band_.view(), top - region_.top);
  }
}

void BaselineDecoder::keep_waiting_rows() {
  for (int c = 0; c < header_.components; ++c) {
    const SamplePlane& samples = window_[c].samples();
    const int context = samples.vertical_ratio > 1 ? 1 : 0;
    const int first_kept = (next_row_ - context) / samples.vertical_ratio;
    window_[c].advance(std::max(first_kept, samples.top));
  }
}

}  // namespace

DecodeResult decode_baseline(RowSink& sink, std::span<const uint8_t> bytes,
                             const JpegHeader& header, const Region& region, DecodeScratch& scratch,
                             int scale) {
  BaselineDecoder decoder(sink, bytes, header, region, *scratch.state, scale);
  if (const char* problem = decoder.run()) return {DecodeStatus::irregular, problem};
  return {};
}

}  // namespace penstock
