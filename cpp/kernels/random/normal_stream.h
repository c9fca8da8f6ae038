// The numbers of a key one after another, made some at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/random/normal.h"

namespace penstock {

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
