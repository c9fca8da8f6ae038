// Colours of planar images of bytes, changed with the bits of torchvision's functions on tensors.
//
// An image of one channel stands for itself in `scale_levels`; all others need three. Images are
// changed in place, and have kRowSlack bytes behind their rows.
#pragma once

#include "base/image.h"

namespace penstock {

/// Each level times a factor.
void scale_levels(const PlanarTarget& image, double factor);

/// Each level mixed with the mean of all grays. torch adds those up in single precision: requires
/// that the sum of that many white pixels is exact there, or bits depend on torch's order.
void stretch_levels_from_mean(const PlanarTarget& image, double factor);

/// How many pixels an image may have for that.
inline constexpr int kMostMeanPixels = (1 << 24) / 255;

/// Each pixel mixed with its gray.
void saturate_levels_of(const PlanarTarget& image, double factor);

/// All colours turned by a part of the circle, from -0.5 to 0.5.
void turn_hue_of(const PlanarTarget& image, double factor);

/// Grays, in the first plane.
void turn_gray(const PlanarTarget& image);

}  // namespace penstock
