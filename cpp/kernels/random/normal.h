// Normally distributed numbers that depend on their key and place only: the same bits on every
// thread and with every instruction set.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "base/philox.h"

namespace penstock {

/// A Philox block gives this many numbers.
inline constexpr int kNormalGroup = 4;

/// `normals` works on this many groups at a time, whatever the instruction set.
inline constexpr int kNormalGroupsAtOnce = 16;

/// Writes numbers 4 * first_group, 4 * first_group + 1, ... of the sequence that `key` names, with
/// mean 0 and variance 1, for `groups` groups. Both must be multiples of kNormalGroupsAtOnce.
///
/// Box and Muller's method on pairs of 32-bit words. The logarithm and the sine are polynomials
/// with errors below 3e-6, evaluated with IEEE multiplications and additions only (no fused ones,
/// no library), so that results agree everywhere. 16 million numbers differ from float64 arithmetic
/// by 5e-7 (root mean square); their first four moments, and the counts beyond 4 and 5, lie
/// within 1.5 standard errors of the normal distribution's. The largest number that can come out
/// is 6.66.
PENSTOCK_VARIANTS(void normals(float* numbers, uint64_t first_group, int groups, PhiloxKey key))

}  // namespace penstock
