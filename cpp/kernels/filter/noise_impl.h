// The loop of noise.h, for the lanes of whichever file includes it.
#pragma once

#include <cstring>

#include "kernels/filter/noise.h"

namespace penstock {
namespace {

/// torch keeps the noise in 16 bits; what does not fit is beyond every level anyway.
constexpr float kLargestNoise = 32767;

template <class Lanes>
class NoiseLoop {
 public:
  static void add_to_row(uint8_t* out, const uint8_t* in, const float* numbers, int count,
                         const NoiseSpec& spec) {
    if (spec.clip)
      add<true>(out, in, numbers, count, spec);
    else
      add<false>(out, in, numbers, count, spec);
  }

 private:
  template <bool kClip>
  static typename Lanes::Ints with_noise(const uint8_t* in, const float* numbers,
                                         const NoiseSpec& spec) {
    const typename Lanes::Floats noise = Lanes::load(numbers) * spec.sigma + spec.mean;
    const typename Lanes::Ints levels =
        Lanes::truncate(Lanes::clamp(noise, -kLargestNoise, kLargestNoise));
    const typename Lanes::Ints sum = Lanes::load_bytes(in) + levels;
    return kClip ? Lanes::clamp(sum, 0, 255) : sum;
  }

  template <bool kClip>
  static void add(uint8_t* out, const uint8_t* in, const float* numbers, int count,
                  const NoiseSpec& spec) {
    int x = 0;
    for (; x + Lanes::kCount <= count; x += Lanes::kCount)
      Lanes::store_bytes(out + x, with_noise<kClip>(in + x, numbers + x, spec));
    if (x < count) {
      uint8_t last[Lanes::kCount];
      Lanes::store_bytes(last, with_noise<kClip>(in + x, numbers + x, spec));
      std::memcpy(out + x, last, count - x);
    }
  }
};

}  // namespace
}  // namespace penstock
