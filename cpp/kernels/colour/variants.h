// The kernels on pixels behind this folder's functions.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "base/image.h"
#include "kernels/colour/extremes.h"
#include "kernels/colour/lut.h"
#include "kernels/colour/statistics.h"

namespace penstock {

// A pixel's gray, in Pillow's fixed point: (19595 R + 38470 G + 7471 B + half) >> 16.

inline constexpr int kLumaRed = 19595;
inline constexpr int kLumaGreen = 38470;
inline constexpr int kLumaBlue = 7471;
inline constexpr int kLumaHalf = 1 << 15;
/// Green's weight less one, so that it fits 16 bits with a sign; green is added after the shift.
inline constexpr int kLumaGreenLessOne = kLumaGreen - (1 << 16);

// All may read, and those with a target may write, up to kRowSlack bytes past the end of rows.
// `to_gray`, `saturate` and `turn_hue` want three channels.

/// `out` may be `in`.
PENSTOCK_VARIANTS(void map_levels(const PlanarTarget& out, const PlanarView& in,
                                  const LevelMap& map))

PENSTOCK_VARIANTS(void count_levels(Histogram& histogram, const PlanarView& image))

// `table` is applied on the way, if not null.

/// Makes `lanes` those of a channel of this image and of what they were taken from before.
PENSTOCK_VARIANTS(void widen_extremes(ExtremeLanes& lanes, const PlanarView& image, int channel,
                                      const uint8_t* table))
PENSTOCK_VARIANTS(uint64_t sum_luma(const PlanarView& image, const Lut* table))

/// Into the first plane of `out`, which may be that of `in`.
PENSTOCK_VARIANTS(void to_gray(const PlanarTarget& out, const PlanarView& in))
PENSTOCK_VARIANTS(void saturate(const PlanarTarget& image, float factor))
PENSTOCK_VARIANTS(void turn_hue(const PlanarTarget& image, uint8_t turn))

}  // namespace penstock
