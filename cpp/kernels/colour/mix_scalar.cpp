#include "kernels/colour/mix.h"

namespace penstock::scalar {

void mix_channel(const PlanarTarget& out, const MixPart* parts, int count, int channel) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      float sum = parts[0].weight * static_cast<float>(parts[0].row(channel, y)[x]);
      for (int i = 1; i < count; ++i)
        sum += parts[i].weight * static_cast<float>(parts[i].row(channel, y)[x]);
      const float above = sum > 0.0f ? sum : 0.0f;
      out.row(channel, y)[x] =
          static_cast<uint8_t>(static_cast<int>(above < 255.0f ? above : 255.0f));
    }
}

}  // namespace penstock::scalar
