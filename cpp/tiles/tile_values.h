// The values of a tile, as encode_tile writes them: lists, lengths and bits.
#pragma once

#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// How far behind their last element the functions below may read and write.
inline constexpr int kSpareValues = 64;

/// How many values join_values makes one of.
inline constexpr int kJoinedValues = 4;

/// Lists the AC coefficients of blocks that are not zero, in zigzag order, and says how many they
/// are. Bit i of a block's mask: the coefficient at zigzag position i is not zero.
PENSTOCK_VARIANTS(int list_values(int16_t* values, uint64_t* masks, const int16_t* blocks,
                                  int count))

/// Finds the bits of each value's magnitude (at most 15), and JPEG's additional bits; returns the
/// most bits. A value that is zero has none.
PENSTOCK_VARIANTS(int spell_values(uint8_t* lengths, uint16_t* bits, const int16_t* values,
                                   int count))

/// Sets bit i of the plane if length i is more than `level`, lists those lengths, and says how
/// many they are. `longer` may be `lengths`.
PENSTOCK_VARIANTS(int mark_longer(uint64_t* plane, uint8_t* longer, const uint8_t* lengths,
                                  int count, int level))

/// Makes one string of bits, the first value lowest, of the kShortBits upper bits of each
/// kJoinedValues values. Requires that kJoinedValues - 1 values of no bits follow the last.
PENSTOCK_VARIANTS(void join_values(uint32_t* joined, uint8_t* widths, const uint16_t* bits,
                                   const uint8_t* lengths, int count))

}  // namespace penstock
