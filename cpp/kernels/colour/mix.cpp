#include "kernels/colour/mix.h"

#include <algorithm>

#include "base/cpu.h"
#include "kernels/colour/mix_rows.h"

namespace penstock {
namespace {

const MixRows& mix_rows() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return mix_rows_avx512();
    case Isa::avx2:
      return mix_rows_avx2();
    case Isa::scalar:
      break;
  }
#endif
  return mix_rows_scalar();
}

}  // namespace

float* MixSum::row(int channel, int y) const {
  return sums_.data<float>() + (static_cast<size_t>(channel) * height_ + y) * width_;
}

void MixSum::begin(const PlanarView& image, float weight) {
  height_ = image.height;
  width_ = image.width;
  channels_ = image.channels;
  // Room for three, so that widening never loses the sum.
  sums_.reserve<float>(size_t{3} * height_ * width_);
  for (int c = 0; c < channels_; ++c)
    for (int y = 0; y < height_; ++y) mix_rows().begin(row(c, y), image.row(c, y), width_, weight);
}

void MixSum::widen() {
  const size_t plane = static_cast<size_t>(height_) * width_;
  for (int c = 1; c < 3; ++c) std::copy_n(row(0, 0), plane, row(c, 0));
  channels_ = 3;
}

void MixSum::add(const PlanarView& image, float weight) {
  if (image.channels > channels_) widen();
  for (int c = 0; c < channels_; ++c)
    for (int y = 0; y < height_; ++y)
      mix_rows().add(row(c, y), image.row(image.channels == 1 ? 0 : c, y), width_, weight);
}

void MixSum::end(const PlanarTarget& target) const {
  for (int c = 0; c < channels_; ++c)
    for (int y = 0; y < height_; ++y) mix_rows().end(target.row(c, y), row(c, y), width_);
}

}  // namespace penstock
