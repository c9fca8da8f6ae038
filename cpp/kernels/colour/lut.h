// Tables from level to level: the form of every effect that looks at one value at a time.
#pragma once

#include <cstdint>

#include "base/image.h"

namespace penstock {

/// What becomes of each level of each channel. A gray image uses the first row only.
struct Lut {
  alignas(64) uint8_t value[3][256];
};

/// `table` becomes: first `table`, then `next`.
void compose(Lut& table, const Lut& next);

/// A table that only drops or flips bits: (level & keep) ^ flip.
struct BitChange {
  uint8_t keep, flip;
};

/// False if the table of 256 levels does something else.
bool is_bit_change(BitChange& change, const uint8_t* table);

/// Sets `out`, which may be `in`, to what becomes of the levels of `in`. Its rows need room for
/// kRowSlack bytes to be written behind them.
void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table);

}  // namespace penstock
