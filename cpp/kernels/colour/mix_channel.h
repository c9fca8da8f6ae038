// One channel of a mix. Sums stay in registers: every image is read once, as bytes.
#pragma once

#include "kernels/colour/mix.h"

namespace penstock {

/// Preconditions as for mix_images. Gray parts count for every channel.
using MixChannel = void (*)(const PlanarTarget& out, const MixPart* parts, int count, int channel);

void mix_channel_scalar(const PlanarTarget& out, const MixPart* parts, int count, int channel);
#if defined(__x86_64__)
void mix_channel_avx2(const PlanarTarget& out, const MixPart* parts, int count, int channel);
void mix_channel_avx512(const PlanarTarget& out, const MixPart* parts, int count, int channel);
#endif

namespace {

[[maybe_unused]] const uint8_t* row_of(const MixPart& part, int channel, int y) {
  return part.image.plane[part.image.channels == 1 ? 0 : channel] + y * part.image.stride;
}

}  // namespace
}  // namespace penstock
