// A weighted sum of images, as AugMix makes one.
#pragma once

#include <span>

#include "base/dispatch.h"
#include "base/image.h"

namespace penstock {

/// An image of a mix, and how much it counts.
struct MixPart {
  PlanarView image;
  float weight = 0;

  /// A gray image counts for every channel.
  const uint8_t* row(int channel, int y) const {
    return image.row(image.channels == 1 ? 0 : channel, y);
  }
};

/// Gray if all parts are.
int mixed_channels(std::span<const MixPart> parts);

/// Sets `out` to the sum of weight * image, made in float32 from the first part to the last with
/// one rounding per product and one per sum, as tensors do. Fractions are cut off, and so is what
/// lies beyond 0 .. 255.
///
/// Requires: at least one part; parts of the size of `out`, which has mixed_channels(parts) and
/// lies apart from them; rows of `out` may be written up to kRowSlack bytes past their end.
void mix_images(const PlanarTarget& out, std::span<const MixPart> parts);

/// One channel of it. Sums stay in registers: every image is read once, as bytes.
PENSTOCK_VARIANTS(void mix_channel(const PlanarTarget& out, const MixPart* parts, int count,
                                   int channel))

}  // namespace penstock
