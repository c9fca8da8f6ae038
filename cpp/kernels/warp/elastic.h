// The elastic transform: a smooth random displacement, and sampling at displaced places.
//
// torchvision has no Pillow path for it; it samples a float tensor. Given the same displacement,
// the result is within one level of torchvision's.
#pragma once

#include "base/buffer.h"
#include "base/image.h"
#include "base/philox.h"
#include "kernels/resample.h"
#include "kernels/warp/warp.h"

namespace penstock {

/// torchvision's arguments; a sigma of 0 stands for no smoothing along its axis.
struct ElasticSpec {
  double alpha_across = 50;
  double alpha_down = 50;
  double sigma_across = 5;
  double sigma_down = 5;
};

inline constexpr double kLargestSigma = 4096;

/// Sets `dx` and `dy`, two planes of height x width without gaps, to displacements in pixels:
/// numbers between -1 and 1, of which pixel i takes the first two words of philox4x32(i, key),
/// smoothed by a Gaussian over reflected edges, times half of alpha.
/// Requires sigmas of 0 .. kLargestSigma.
void elastic_field(float* dx, float* dy, int height, int width, const ElasticSpec& spec,
                   PhiloxKey key, Buffer& scratch);

/// Fills `out` with what lies at (x + dx, y + dy) in `in`, an image of the same size. Neighbours
/// outside the image count as black, and then as much of the result as they weighed as `fill`,
/// which is torchvision's way. Filter is nearest, bilinear or bicubic; channels, and room past
/// rows, as in warp.h. Any displacements will do, NaN and infinity included.
void warp_displaced(const PlanarTarget& out, const PlanarView& in, const float* dx, const float* dy,
                    Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch);

}  // namespace penstock
