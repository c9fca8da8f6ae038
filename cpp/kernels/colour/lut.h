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

/// A table, and what makes it fast: to be prepared once for all parts of an image.
struct LevelMap {
  LevelMap() = default;
  LevelMap(const Lut& levels, int channels);

  /// Sets `out`, which may be `in`, to what becomes of the levels of `in`, which has at most as
  /// many channels. Rows of `out` need room for kRowSlack bytes to be written behind them.
  void apply(const PlanarTarget& out, const PlanarView& in) const;

  Lut table;
  bool changes_bits[3] = {};  // whether the table of a channel is a BitChange
  BitChange change[3];
};

/// The same for a table that is used once.
void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table);

// A blend with gray as two tables: how far a value ends up from its gray, by how far it started.

/// For a value at distance d from its gray: the blend adds `up[d]` where it moves away from black,
/// and subtracts `down[d]` where it moves towards it, both saturating.
struct BlendSteps {
  alignas(64) uint8_t up[256];
  alignas(64) uint8_t down[256];
};

/// False if for this factor some sum of gray and step rounds up to a whole level in float
/// arithmetic: then the result depends on more than the distance, and the tables are of no use.
bool make_blend_steps(BlendSteps& steps, float factor);

}  // namespace penstock
