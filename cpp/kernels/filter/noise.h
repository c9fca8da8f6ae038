// Gaussian noise on 8-bit images, by torchvision's formula for uint8 with numbers of our own.
#pragma once

#include "base/dispatch.h"
#include "base/image.h"
#include "base/philox.h"

namespace penstock {

struct NoiseSpec {
  float mean = 0;    // in levels: torchvision's mean * 255
  float sigma = 0;   // in levels: torchvision's sigma * 255
  bool clip = true;  // or let results wrap around, as torchvision does without clip
  PhiloxKey key;
};

/// Adds truncate(mean + number * sigma) to every sample.
/// The numbers (kernels/random/numbers.h) are counted by channel, row and column, so they are the
/// same whatever the stride. `out` may be `in`, with as many channels. A gray `in` under an RGB
/// `out` counts as three equal channels, each of which gets noise of its own. Requires a finite
/// mean and sigma.
void add_gaussian_noise(const PlanarTarget& out, const PlanarView& in, const NoiseSpec& spec);

/// What happens to `count` samples of a row; up to kRowSlack bytes past the end of `in` and
/// NormalStream::kSlack numbers past the end of `numbers` are read.
PENSTOCK_VARIANTS(void add_noise_to_row(uint8_t* out, const uint8_t* in, const float* numbers,
                                        int count, const NoiseSpec& spec))

}  // namespace penstock
