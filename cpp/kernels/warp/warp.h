// Affine and perspective warps, bit-identical to Pillow's Image.transform.
#pragma once

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/resample.h"

namespace penstock {

/// A worker's recycled memory for warps.
struct WarpScratch {
  Buffer words;
  Buffer columns;
};

/// Fills `out` with what lies at (a x + b y + c, d x + e y + f) in `in`, where x and y are the
/// centres of the pixels of `out` and `matrix` is a .. f; pixels from outside `in` become `fill`.
///
/// Requires: `in` and `out` do not overlap and have at least 1x1 pixels; `out` has three channels,
/// or one if `in` has one and `fill` is gray; kRowSlack bytes past every row of `out` may be
/// written; filter is nearest, bilinear or bicubic. Any numbers will do, NaN and infinity included.
void warp_affine(const PlanarTarget& out, const PlanarView& in, const double (&matrix)[6],
                 Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch);

/// The same with what lies at ((a x + b y + c) / w, (d x + e y + f) / w), where w = g x + h y + 1.
void warp_perspective(const PlanarTarget& out, const PlanarView& in, const double (&matrix)[8],
                      Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch);

}  // namespace penstock
