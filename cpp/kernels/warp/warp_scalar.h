// The oracle: warps one pixel at a time, in plain C++ and for images of any size.
#pragma once

#include "base/image.h"
#include "kernels/resample.h"
#include "kernels/warp/elastic.h"
#include "kernels/warp/warp.h"

namespace penstock {

/// See warp.h, which chooses between these and the faster ones.
void warp_affine_scalar(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                        const double (&matrix)[6], Filter filter, const uint8_t (&fill)[3]);
/// Bilinear.
void warp_affine_rounded_scalar(const PlanarTarget& out, const PlanarView& in,
                                const WarpFrame& frame, const double (&matrix)[6],
                                const uint8_t (&fill)[3]);
void warp_perspective_scalar(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                             const double (&matrix)[8], Filter filter, const uint8_t (&fill)[3]);

void warp_displaced_scalar(const PlanarTarget& out, const PlanarView& in, const float* dx,
                           const float* dy, Filter filter, const uint8_t (&fill)[3]);

}  // namespace penstock
