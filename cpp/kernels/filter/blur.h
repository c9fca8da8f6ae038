// Gaussian blur as torchvision's gaussian_blur on 8-bit images.
#pragma once

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

/// How many weights a spec has room for.
inline constexpr int kMostGivenWeights = 28;

/// Sizes are odd, at least 1, and at most twice the image's side less one: torchvision, too,
/// refuses to reflect more than there is. Sigmas are above 0.
struct BlurSpec {
  int kernel_width = 1;
  int kernel_height = 1;
  float sigma_across = 1;
  float sigma_down = 1;
  /// Weights to take instead of those that the sigmas give; none if the first is 0. From the middle
  /// outwards, across and then down; a kernel as wide as high has the same in both directions.
  float weights[kMostGivenWeights] = {};
};

/// True if an image of this size can be blurred so.
bool blur_fits(const BlurSpec& spec, int height, int width);

/// True if there are no weights given, or as many as the kernel needs, which add up to 1 in both
/// directions but for rounding.
bool weights_fit(const BlurSpec& spec);

/// Memory that a worker keeps between images.
struct BlurScratch {
  Buffer weights;
  Buffer kernel;
  Buffer padded;
  Buffer rows;
  Buffer row_pointers;
  Buffer doubtful;
  Buffer settled;
};

/// Reflects at the borders and convolves in float32 as torch does on every CPU with fused
/// multiply-add: a pixel is the sum over the kernel, row by row, of its products of weights across
/// and down with the pixels, each added in one rounding; then to the nearest level, ties to even.
///
/// Large kernels are first summed across and then down, which is far less work. That differs from
/// the sum above by a known bound at most, so only pixels within it of half a level need the sum
/// itself. Every instruction set gives the same bytes.
/// `in` and `out` are of one shape and do not overlap; blur_fits must hold; rows of `out` need
/// kRowSlack writable bytes behind them.
void gaussian_blur(const PlanarTarget& out, const PlanarView& in, const BlurSpec& spec,
                   BlurScratch& scratch);

}  // namespace penstock
