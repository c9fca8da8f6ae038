// What an image's levels say of it, and the tables that follow from that.
#pragma once

#include <cstdint>

#include "base/image.h"
#include "kernels/colour/extremes.h"
#include "kernels/colour/lut.h"

namespace penstock {

/// How often each level occurs in each channel; of a gray image only the first row is set.
struct Histogram {
  uint32_t count[3][256];
};

// Wherever a table is passed it is applied on the way, or not if null; pixels stay as they are.

void count_levels(Histogram& histogram, const PlanarView& image);
/// The histogram that the image has after `table`.
void map_histogram(Histogram& mapped, const Histogram& histogram, int channels, const Lut* table);
Extremes extremes_of(const Histogram& histogram, int channels);
Extremes find_extremes(const PlanarView& image, const Lut* table);
/// The mean of the image's gray version, rounded as ImageEnhance.Contrast rounds it.
int mean_luma(const PlanarView& image, const Lut* table);

/// As ImageOps.autocontrast: stretches each channel to all 256 levels.
Lut autocontrast_table(const Extremes& extremes, int channels);
/// As ImageOps.equalize: makes the levels of each channel about equally frequent.
Lut equalize_table(const Histogram& histogram, int channels);

}  // namespace penstock
