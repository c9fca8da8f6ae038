// Erasing a rectangle, in a working image or in a finished batch slot.
#pragma once

#include "base/image.h"
#include "base/philox.h"
#include "kernels/output.h"

namespace penstock {

// All four require a region inside the image, which may be empty.

/// Fills the region with one colour. A gray image takes colour[0]: with a fill that is not gray,
/// make it RGB first.
void erase(const PlanarTarget& image, const Region& region, const uint8_t colour[3]);

/// Fills the region with normal noise of mean 0 and variance 1, cast to bytes as torch casts it:
/// truncated, negative numbers counting down from 256. The numbers (kernels/random/numbers.h) are
/// counted by channel, row and column of the region.
void erase_with_noise(const PlanarTarget& image, const Region& region, PhiloxKey key);

/// The same for pixels that have been through the final pass: values and noise are stored as they
/// are, rounded to the element.
void erase_output(const Output& output, const Region& region, const float value[3]);
void erase_output_with_noise(const Output& output, const Region& region, PhiloxKey key);

}  // namespace penstock
