#include "kernels/colour/mix.h"

#include <algorithm>

#include "base/cpu.h"
#include "kernels/colour/mix_channel.h"

namespace penstock {
namespace {

MixChannel mix_channel() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return mix_channel_avx512;
    case Isa::avx2:
      return mix_channel_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return mix_channel_scalar;
}

}  // namespace

int mixed_channels(std::span<const MixPart> parts) {
  int channels = 1;
  for (const MixPart& part : parts) channels = std::max(channels, part.image.channels);
  return channels;
}

void mix_images(const PlanarTarget& out, std::span<const MixPart> parts) {
  for (int c = 0; c < out.channels; ++c)
    mix_channel()(out, parts.data(), static_cast<int>(parts.size()), c);
}

}  // namespace penstock
