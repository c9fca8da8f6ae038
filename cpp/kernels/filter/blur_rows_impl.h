// The loops of blur_rows.h, for the lanes of whichever file includes it.
#pragma once

#include "kernels/filter/blur_rows.h"

namespace penstock {
namespace {

template <class Lanes>
class BlurLoops {
 public:
  static void across(float* out, const float* in, const float* weight, int reach, int width) {
    for (int x = 0; x < width; x += kStep) {
      const Sums sums = weighted_sums(
          weight, reach, [&](int away, int lane) { return Lanes::load(in + x + away + lane); });
      for (int v = 0; v < kVectors; ++v) Lanes::store(out + x + v * Lanes::kCount, sums.vector[v]);
    }
  }

  static void down(uint8_t* out, const float* const* rows, const float* weight, int reach,
                   int width) {
    // Adding 1.5 * 2^23 leaves no room for fractions: the sum is rounded, ties to even, and the
    // level is in its lowest bits.
    constexpr float kRounder = 0x1.8p23f;
    for (int x = 0; x < width; x += kStep) {
      const Sums sums = sums_down(rows, weight, reach, x);
      for (int v = 0; v < kVectors; ++v)
        Lanes::store_bytes(out + x + v * Lanes::kCount,
                           typename Lanes::Ints(Lanes::words(sums.vector[v] + kRounder)));
    }
  }

  static void down_to_floats(float* out, const float* const* rows, const float* weight, int reach,
                             int width) {
    for (int x = 0; x < width; x += kStep) {
      const Sums sums = sums_down(rows, weight, reach, x);
      for (int v = 0; v < kVectors; ++v) Lanes::store(out + x + v * Lanes::kCount, sums.vector[v]);
    }
  }

  static void widen(float* out, const uint8_t* in, int width) {
    for (int x = 0; x < width; x += Lanes::kCount)
      Lanes::store(out + x, Lanes::convert(Lanes::load_bytes(in + x)));
  }

 private:
  // Several vectors at a time: their sums are independent, which hides the latency of additions.
  static constexpr int kVectors = Lanes::kCount == 1 ? 1 : kBlurBlock / Lanes::kCount;
  static constexpr int kStep = kVectors * Lanes::kCount;

  struct Sums {
    typename Lanes::Floats vector[kVectors];
  };

  template <class Load>
  static Sums weighted_sums(const float* weight, int reach, Load load) {
    Sums sums;
    for (int v = 0; v < kVectors; ++v) sums.vector[v] = load(0, v * Lanes::kCount) * weight[0];
    for (int i = 1; i <= reach; ++i)
      for (int v = 0; v < kVectors; ++v) {
        const int x = v * Lanes::kCount;
        sums.vector[v] += (load(-i, x) + load(i, x)) * weight[i];
      }
    return sums;
  }

  static Sums sums_down(const float* const* rows, const float* weight, int reach, int x) {
    const float* const* middle = rows + reach;
    return weighted_sums(weight, reach,
                         [&](int away, int lane) { return Lanes::load(middle[away] + x + lane); });
  }
};

}  // namespace
}  // namespace penstock
