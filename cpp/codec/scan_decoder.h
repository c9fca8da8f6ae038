// Walks through the one scan of a baseline JPEG: entropy segments, restarts, units to blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "codec/decode_mcus.h"
#include "codec/entropy_segments.h"
#include "codec/jpeg_header.h"
#include "codec/row_starts.h"

namespace penstock {

/// The largest first coefficient that the inverse DCT can take, where it is multiplied by this.
int largest_dc(int quantiser);

/// Which part of a scan is decoded; all, if it has restart markers.
struct ScanPart {
  RowStart begin;
  const RowStart* end = nullptr;  // null: not known
};

/// Decodes units in file order. Every function that can meet bad data returns nullptr, or what is
/// wrong; after that the scan is lost.
class ScanDecoder {
 public:
  /// Requires Route::baseline. `unstuffed` and `tables` are the worker's own and stay in use.
  ScanDecoder(std::span<const uint8_t> bytes, const JpegHeader& header, const HuffmanTables& tables,
              Buffer& unstuffed, const ScanPart& part = {});

  /// Where the blocks of component `component`, row `row` within a unit, are stored: the first
  /// unit's blocks at `coefficients`, the others behind them. Coefficients behind zigzag position
  /// `last_wanted` may be left out.
  void set_target(int component, int row, int16_t* coefficients, int last_wanted);

  /// The next `units` units go to the targets.
  const char* store(int units) {
    return decode(units, wants_all_ ? decoder_.store : decoder_.store_low);
  }
  const char* skip(int64_t units) { return decode(units, decoder_.skip); }

  /// Where it stands, and whether a RowStart can say that. Requires a scan without restart markers.
  bool find_place(RowStart& here);
  /// Goes on from there, which must not lie before the part's beginning.
  const char* go_to(const RowStart& there);

 private:
  const char* decode(int64_t units, DecodeMcus decode_mcus);
  int64_t units_in_segment() const;

  const JpegHeader& header_;
  EntropySegments segments_;
  const McuDecoder& decoder_ = PENSTOCK_PICK(mcu_decoder);
  Mcu mcu_;
  bool wants_all_ = true;
  int64_t units_to_restart_;
  const uint32_t first_source_;
  const int64_t first_bit_;  // of the first byte that was unstuffed
  const uint8_t* const unstuffed_;
  int64_t counted_bytes_ = 0;  // of those, how many were looked at for stuffed zeros
  int64_t stuffed_ = 0;        // zeros behind them
};

}  // namespace penstock
