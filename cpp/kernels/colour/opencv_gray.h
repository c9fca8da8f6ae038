// OpenCV's gray: whole weights that add up to 2^15, rounded to the nearest.
#pragma once

#include "base/dispatch.h"
#include "base/image.h"

namespace penstock {

/// Writes the grays of an image of three channels into its first plane.
PENSTOCK_VARIANTS(void turn_gray_as_opencv(const PlanarTarget& image))

}  // namespace penstock
