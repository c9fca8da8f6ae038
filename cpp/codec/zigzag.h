// The order in which a block's coefficients are stored, and which of them are not zero.
#pragma once

#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// Natural (row-major) place of each zigzag position.
inline constexpr uint8_t kNaturalOrder[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// The zigzag position of the last of a block's lowest size x size coefficients; size is 8, 4, 2
/// or 1.
constexpr int last_zigzag_position(int size) {
  return size == 8 ? 63 : size == 4 ? 24 : size == 2 ? 4 : 0;
}
static_assert(kNaturalOrder[24] == 3 * 8 + 3 && kNaturalOrder[4] == 1 * 8 + 1);

/// All zigzag positions below this one lie in the first four rows and columns.
inline constexpr int kFourRowsEnd = 10;
static_assert(kNaturalOrder[kFourRowsEnd - 1] == 3 * 8 && kNaturalOrder[kFourRowsEnd] == 4 * 8);

/// A bit for each zigzag position that does not lie in the first four rows and columns.
inline constexpr uint64_t kBeyondFour = [] {
  uint64_t beyond = 0;
  for (int position = 0; position < 64; ++position)
    if (kNaturalOrder[position] / 8 >= 4 || kNaturalOrder[position] % 8 >= 4)
      beyond |= uint64_t{1} << position;
  return beyond;
}();

/// Bit k of masks[i] says that block i has a coefficient other than zero at zigzag position k.
/// `blocks` are `count` blocks of 64 coefficients in natural order.
PENSTOCK_VARIANTS(void zigzag_masks(uint64_t* masks, const int16_t* blocks, int count))

}  // namespace penstock
