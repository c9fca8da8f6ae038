// The loop of noise.h, compiled once per instruction set.
#include <cstring>

#include "kernels/filter/noise.h"
#include "kernels/lanes/lanes.h"

namespace penstock::PENSTOCK_ISA {
namespace {

/// torch keeps the noise in 16 bits; what does not fit is beyond every level anyway.
constexpr float kLargestNoise = 32767;

template <bool kClip>
Lanes::Ints with_noise(const uint8_t* in, const float* numbers, const NoiseSpec& spec) {
  const Lanes::Floats noise = Lanes::load(numbers) * spec.sigma + spec.mean;
  const Lanes::Ints levels = Lanes::truncate(Lanes::clamp(noise, -kLargestNoise, kLargestNoise));
  const Lanes::Ints sum = Lanes::load_bytes(in) + levels;
  return kClip ? Lanes::clamp(sum, 0, 255) : sum;
}

template <bool kClip>
void add_noise(uint8_t* out, const uint8_t* in, const float* numbers, int count,
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

}  // namespace

void add_noise_to_row(uint8_t* out, const uint8_t* in, const float* numbers, int count,
                      const NoiseSpec& spec) {
  if (spec.clip)
    add_noise<true>(out, in, numbers, count, spec);
  else
    add_noise<false>(out, in, numbers, count, spec);
}

}  // namespace penstock::PENSTOCK_ISA
