// One channel of a mix. Sums stay in registers: every image is read once, as bytes.
#pragma once

#include "base/dispatch.h"
#include "kernels/colour/mix.h"

namespace penstock {

/// Preconditions as for mix_images. Gray parts count for every channel.
PENSTOCK_VARIANTS(void mix_channel(const PlanarTarget& out, const MixPart* parts, int count,
                                   int channel))

namespace {

[[maybe_unused]] const uint8_t* row_of(const MixPart& part, int channel, int y) {
  return part.image.plane[part.image.channels == 1 ? 0 : channel] + y * part.image.stride;
}

}  // namespace
}  // namespace penstock
