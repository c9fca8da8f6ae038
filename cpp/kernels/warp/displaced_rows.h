// The vector kernels of warp_displaced: part of an output row at a time.
#pragma once

#include <cstdint>

#include "kernels/warp/warp_rows.h"

namespace penstock {

/// Where the pixels of a part come from.
struct DisplacedPlaces {
  alignas(64) float x[kPartPixels] = {};
  alignas(64) float y[kPartPixels] = {};
};

/// All give the bits of warp_displaced_scalar.
struct DisplacedRows {
  /// `dx` and `dy` are those of the part.
  void (*displace)(DisplacedPlaces& places, const RowPart& part, const float* dx, const float* dy);
  /// Words from the image's first; kOutside where there is none.
  void (*nearest)(int32_t* at, const RowPart& part, const BorderedImage& image,
                  const DisplacedPlaces& places);
  void (*bilinear)(const RowPart& part, const BorderedImage& image, const DisplacedPlaces& places,
                   uint32_t fill);
  void (*bicubic)(const RowPart& part, const BorderedImage& image, const DisplacedPlaces& places,
                  uint32_t fill);
};

/// Null in sets where warp_rows is.
PENSTOCK_VARIANTS(extern const DisplacedRows* const displaced_rows)

}  // namespace penstock
