// Sharpness as PIL.ImageEnhance.Sharpness computes it: a blend of the image and its smooth self.
#pragma once

#include "base/dispatch.h"
#include "base/image.h"

namespace penstock {

/// Pillow's Image.blend(image.filter(ImageFilter.SMOOTH), image, factor), to the bit, for any
/// finite factor: 0 smooths, 1 keeps, more sharpens.
///
/// `in` and `out` are of one shape and do not overlap. Vectors are stored whole, so the rows of
/// `out` need kRowSlack writable bytes behind them, as those of working images have.
void sharpen(const PlanarTarget& out, const PlanarView& in, float factor);

/// Does the pixels that have eight neighbours; may write over the last column and past it.
/// Requires at least 3x3 pixels.
///
/// Pillow smooths in float32: the sum of the eight neighbours and five times the pixel, over 13,
/// plus a half, truncated. In integers that is (sum + 6) / 13: with an odd divisor no quotient lies
/// closer than 1/26 to the next step, which is far beyond the rounding errors of the floats.
PENSTOCK_VARIANTS(void sharpen_inside(const PlanarTarget& out, const PlanarView& in, float factor))

}  // namespace penstock
