// Walks through the one scan of a baseline JPEG: entropy segments, restarts, units to blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "codec/decode_mcus.h"
#include "codec/jpeg_header.h"

namespace penstock {

/// Decodes units in file order. Every function that can meet bad data returns nullptr, or what is
/// wrong; after that the scan is lost.
class ScanDecoder {
 public:
  /// Requires Route::baseline. `unstuffed` and `tables` are the worker's own and stay in use.
  ScanDecoder(std::span<const uint8_t> bytes, const JpegHeader& header, const HuffmanTables& tables,
              Buffer& unstuffed);

  /// Where the blocks of component `component`, row `row` within a unit, are stored: the first
  /// unit's blocks at `coefficients`, the others behind them. Coefficients behind zigzag position
  /// `last_wanted` may be left out.
  void set_target(int component, int row, int16_t* coefficients, int last_wanted);

  /// The next `units` units go to the targets.
  const char* store(int units) {
    return decode(units, wants_all_ ? decoder_.store : decoder_.store_low);
  }
  const char* skip(int64_t units) { return decode(units, decoder_.skip); }

 private:
  const char* decode(int64_t units, DecodeMcus decode_mcus);
  const char* next_segment();
  void begin_segment();

  const JpegHeader& header_;
  const uint8_t* source_;      // first byte not yet unstuffed
  const uint8_t* source_end_;  // the EOI marker
  Buffer& unstuffed_;
  const McuDecoder& decoder_ = PENSTOCK_PICK(mcu_decoder);
  Mcu mcu_;
  bool wants_all_ = true;
  EntropyCursor cursor_;
  int64_t units_to_restart_ = 0;
  int next_restart_ = 0;
};

}  // namespace penstock
