#include <algorithm>
#include <cstring>

#include "codec/decode_state.h"
#include "codec/jpeg_decode.h"
#include "codec/scan_decoder.h"
#include "codec/unit_rows.h"

namespace penstock {
namespace {

const HuffmanTables& prepared(HuffmanTables& tables, const JpegHeader& header) {
  tables.prepare(header);
  return tables;
}

/// Which of the rows that are known to begin decoding at: the last one that is not too far down.
int first_row(const RegionPlan& plan, const RowStarts& starts) {
  return std::max(0, std::min(plan.first_unit_row, static_cast<int>(starts.size()) - 1));
}

ScanPart part_of_scan(const RegionPlan& plan, const RowStarts& starts) {
  if (starts.empty()) return {};
  const auto end = static_cast<size_t>(plan.end_unit_row);
  return {starts[static_cast<size_t>(first_row(plan, starts))],
          end < starts.size() ? &starts[end] : nullptr};
}

/// One region of one image, row of units by row of units.
class BaselineDecoder {
 public:
  /// `starts` are those of the rows that are known; more are added if `keeps_starts`.
  BaselineDecoder(RowSink& sink, std::span<const uint8_t> bytes, const JpegHeader& header,
                  const Region& region, DecodeState& state, const Reduction& reduction,
                  bool luma_alone, RowStarts& starts, bool keeps_starts)
      : rows_(sink, header, region, reduction, luma_alone, state.region),
        scan_(bytes, header, prepared(state.tables, header), state.unstuffed,
              part_of_scan(rows_.plan(), starts)),
        starts_(starts),
        keeps_starts_(keeps_starts) {
    begin_coefficients(header, state.coefficients);
  }

  const char* run() {
    const RegionPlan& plan = rows_.plan();
    int row = first_row(plan, starts_);
    for (; row < plan.first_unit_row; ++row) {
      note_start(row);
      if (const char* problem = scan_.skip(plan.units_across)) return problem;
    }
    for (; row < plan.end_unit_row; ++row) {
      note_start(row);
      if (const char* problem = scan_.skip(plan.first_unit_column)) return problem;
      if (const char* problem = scan_.store(plan.stored_units())) return problem;
      if (row + 1 < plan.end_unit_row)
        if (const char* problem = pass_rest_of(row)) return problem;
      rows_.take(row, coefficients_);
    }
    return nullptr;
  }

 private:
  void begin_coefficients(const JpegHeader& header, Buffer& storage);

  /// Of a row that the decoder stands in front of.
  void note_start(int row) {
    RowStart here;
    if (keeps_starts_ && static_cast<size_t>(row) == starts_.size() && scan_.find_place(here))
      starts_.push_back(here);
  }

  /// What lies behind the region.
  const char* pass_rest_of(int row) {
    const auto next = static_cast<size_t>(row) + 1;
    if (next < starts_.size()) return scan_.go_to(starts_[next]);
    return scan_.skip(rows_.plan().units_across - rows_.plan().end_unit_column);
  }

  UnitRows rows_;
  ScanDecoder scan_;
  RowStarts& starts_;
  const bool keeps_starts_;
  BlockRows coefficients_[3];  // of the current row of units
};

void BaselineDecoder::begin_coefficients(const JpegHeader& header, Buffer& storage) {
  size_t elements = 0;
  for (int c = 0; c < header.components; ++c)
    elements += rows_.row_size(c) * header.component[c].vertical;
  int16_t* next = storage.reserve<int16_t>(elements);
  std::memset(next, 0, elements * sizeof *next);
  for (int c = 0; c < header.components; ++c) {
    coefficients_[c] = {next, rows_.row_size(c)};
    for (int y = 0; y < header.component[c].vertical; ++y) {
      scan_.set_target(c, y, next, rows_.last_wanted(c));
      next += rows_.row_size(c);
    }
  }
}

}  // namespace

DecodeResult decode_baseline(RowSink& sink, std::span<const uint8_t> bytes,
                             const JpegHeader& header, const Region& region, DecodeScratch& scratch,
                             const Reduction& reduction, bool luma_alone, RowStarts* rows) {
  RowStarts own;
  RowStarts& starts = rows != nullptr ? *rows : own;
  const size_t known = starts.size();
  // Restart markers divide a scan already, and a RowStart does not know them.
  const bool keeps = rows != nullptr && header.restart_interval == 0;
  BaselineDecoder decoder(sink, bytes, header, region, scratch.state(), reduction, luma_alone,
                          starts, keeps);
  if (const char* problem = decoder.run()) {
    starts.resize(known);
    return {DecodeStatus::irregular, problem};
  }
  return {};
}

}  // namespace penstock
