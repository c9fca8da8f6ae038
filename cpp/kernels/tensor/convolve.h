// Planes of floats convolved with a small kernel, as torch does it for channels apart.
#pragma once

#include <cstddef>

#include "base/dispatch.h"

namespace penstock {

struct ConvolutionKernel {
  const float* weights = nullptr;  // height * width of them, row by row
  int height = 1;
  int width = 1;
};

/// Sums over the kernel row by row from the first weight, each product added in one rounding.
/// `source` is height x width without gaps, at least as large as the kernel; the result is smaller
/// by the kernel's sides less one, and does not overlap it.
PENSTOCK_VARIANTS(void convolve_plane(float* target, const float* source, int height, int width,
                                      const ConvolutionKernel& kernel))

}  // namespace penstock
