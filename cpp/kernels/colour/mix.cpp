#include "kernels/colour/mix.h"

#include <algorithm>

namespace penstock {
int mixed_channels(std::span<const MixPart> parts) {
  int channels = 1;
  for (const MixPart& part : parts) channels = std::max(channels, part.image.channels);
  return channels;
}

void mix_images(const PlanarTarget& out, std::span<const MixPart> parts) {
  for (int c = 0; c < out.channels; ++c)
    PENSTOCK_PICK(mix_channel)(out, parts.data(), static_cast<int>(parts.size()), c);
}

}  // namespace penstock
