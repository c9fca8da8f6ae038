// Pairs of evenly distributed numbers that depend on their key and place only.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "base/philox.h"

namespace penstock {

/// Pairs are made this many at a time, whatever the instruction set.
inline constexpr int kPairsAtOnce = 16;

/// Sets first[i] and second[i] to numbers from -1 up to but not including 1, made of the first two
/// words of philox4x32(first_counter + i, key). Both numbers of pairs are multiples of
/// kPairsAtOnce.
PENSTOCK_VARIANTS(void uniform_pairs(float* first, float* second, uint64_t first_counter, int count,
                                     PhiloxKey key))

}  // namespace penstock
