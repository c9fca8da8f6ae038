#include <algorithm>
#include <cstring>

#include "codec/decode_state.h"
#include "codec/jpeg_decode.h"
#include "codec/reconstruct.h"
#include "codec/region_output.h"
#include "codec/scan_decoder.h"
#include "codec/zigzag.h"

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

Frame luma_of(const Frame& frame) {
  Frame luma = frame;
  luma.components = 1;
  return luma;
}

/// One region of one image, unit row by unit row: coefficients, samples, then finished bands.
class BaselineDecoder {
 public:
  BaselineDecoder(RowSink& sink, std::span<const uint8_t> bytes, const JpegHeader& header,
                  const Region& region, DecodeState& state, const Reduction& reduction,
                  bool luma_alone)
      : header_(header),
        frame_(make_frame(header, reduction)),
        shown_(luma_alone ? luma_of(frame_) : frame_),
        plan_(plan_region(shown_, region)),
        scan_(bytes, header, prepared(state.tables, header), state.unstuffed),
        output_(sink, shown_, region, {}, true, state.region) {
    begin_coefficients(state.coefficients);
    begin_planes();
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
      if (last)
        output_.finish_last_strip();
      else
        output_.finish_strip((row + 1) * frame_.unit_height - plan_.rows_below);
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
  void begin_planes();
  void transform();

  const JpegHeader& header_;
  const Frame frame_;
  const Frame shown_;  // the components that are looked at
  const RegionPlan plan_;
  ScanDecoder scan_;
  RegionOutput output_;
  int16_t* coefficients_[3] = {};
  IdctRow idct_row_[3] = {};
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
    const bool is_shown = c < shown_.components;
    const int last_wanted =
        is_shown ? last_zigzag_position(std::max(size.block_height, size.block_width)) : 0;
    for (int row = 0; row < component(c).vertical; ++row) {
      scan_.set_target(c, row, next, last_wanted);
      next += coefficient_row_size(c);
    }
  }
}

void BaselineDecoder::begin_planes() {
  for (int c = 0; c < shown_.components; ++c) {
    const FrameComponent& size = frame_.component[c];
    const int unit_rows = size.block_height * component(c).vertical;
    const int unit_columns = size.block_width * component(c).horizontal;
    idct_row_[c] = idct_row_to(size.block_height, size.block_width);
    output_.begin_component(c, unit_rows, blocks_across(c), plan_.first_unit_row * unit_rows,
                            plan_.first_unit_column * unit_columns);
  }
}

void BaselineDecoder::transform() {
  for (int c = 0; c < shown_.components; ++c) {
    const ptrdiff_t stride = output_.stride(c);
    const FrameComponent& size = frame_.component[c];
    for (int row = 0; row < component(c).vertical; ++row) {
      idct_row_[c](output_.strip(c) + row * size.block_height * stride, stride,
                   coefficients_[c] + row * coefficient_row_size(c), blocks_across(c),
                   header_.quant[component(c).quant_table], c > 0);
    }
  }
}

}  // namespace

DecodeResult decode_baseline(RowSink& sink, std::span<const uint8_t> bytes,
                             const JpegHeader& header, const Region& region, DecodeScratch& scratch,
                             const Reduction& reduction, bool luma_alone) {
  BaselineDecoder decoder(sink, bytes, header, region, scratch.state(), reduction, luma_alone);
  if (const char* problem = decoder.run()) return {DecodeStatus::irregular, problem};
  return {};
}

}  // namespace penstock
