// Random numbers that depend on their key and place only: the same bits on every thread and with
// every instruction set.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/dispatch.h"
#include "base/philox.h"

namespace penstock {

/// A Philox block gives this many normally distributed numbers.
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

/// Pairs are made this many at a time, whatever the instruction set.
inline constexpr int kPairsAtOnce = 16;

/// Sets first[i] and second[i] to numbers from -1 up to but not including 1, made of the first two
/// words of philox4x32(first_counter + i, key). Both numbers of pairs are multiples of
/// kPairsAtOnce.
PENSTOCK_VARIANTS(void uniform_pairs(float* first, float* second, uint64_t first_counter, int count,
                                     PhiloxKey key))

/// Hands out the numbers of `key` in order. Up to kSlack floats past those handed out are readable.
class NormalStream {
 public:
  static constexpr int kSlack = 16;

  explicit NormalStream(PhiloxKey key) : key_(key), make_(PENSTOCK_PICK(normals)) {}

  /// Up to `wanted` next numbers, at least one; `count` says how many.
  const float* next(int64_t wanted, int& count) {
    if (used_ == kBuffered) {
      make_(numbers_, group_, kBuffered / kNormalGroup, key_);
      group_ += kBuffered / kNormalGroup;
      used_ = 0;
    }
    count = static_cast<int>(std::min<int64_t>(wanted, kBuffered - used_));
    const float* first = numbers_ + used_;
    used_ += count;
    return first;
  }

 private:
  static constexpr int kBuffered = 1024;  // of which 64 are made at once; stays in the L1 cache

  PhiloxKey key_;
  decltype(&scalar::normals) make_;
  uint64_t group_ = 0;
  int used_ = kBuffered;
  alignas(64) float numbers_[kBuffered + kSlack] = {};
};

}  // namespace penstock
