// Gaussian blur as torchvision's gaussian_blur on 8-bit images.
#pragma once

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

/// Sizes are odd, at least 1, and at most twice the image's side less one: torchvision, too,
/// refuses to reflect more than there is. Sigmas are above 0.
struct BlurSpec {
  int kernel_width = 1;
  int kernel_height = 1;
  float sigma_across = 1;
  float sigma_down = 1;
};

/// True if an image of this size can be blurred so.
bool blur_fits(const BlurSpec& spec, int height, int width);

/// Memory that a worker keeps between images.
struct BlurScratch {
  Buffer weights;
  Buffer padded;
  Buffer rows;
  Buffer row_pointers;
};

/// Reflects at the borders, multiplies in float32, rounds to the nearest level, ties to even.
///
/// torchvision sums one 2D kernel where this sums across and then down, so a value that lies within
/// their rounding errors of half a level may come out one level off; otherwise the bytes are equal.
/// Sums are in one order and without fused multiply-add: every instruction set gives the same.
/// `in` and `out` are of one shape and do not overlap; blur_fits must hold; rows of `out` need
/// kRowSlack writable bytes behind them.
void gaussian_blur(const PlanarTarget& out, const PlanarView& in, const BlurSpec& spec,
                   BlurScratch& scratch);

}  // namespace penstock
