#include "kernels/colour/variants.h"

namespace penstock::scalar {

void map_levels(const PlanarTarget& out, const PlanarView& in, const LevelMap& map) {
  for (int c = 0; c < in.channels; ++c)
    for (int y = 0; y < in.height; ++y) {
      const uint8_t* levels = in.row(c, y);
      uint8_t* row = out.row(c, y);
      for (int x = 0; x < in.width; ++x) row[x] = map.table.value[c][levels[x]];
    }
}

void widen_extremes(ExtremeLanes& lanes, const PlanarView& image, int channel,
                    const uint8_t* table) {
  uint8_t &least = lanes.least[0], &greatest = lanes.greatest[0];
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(channel, y);
    for (int x = 0; x < image.width; ++x) {
      const uint8_t level = table == nullptr ? row[x] : table[row[x]];
      if (level < least) least = level;
      if (level > greatest) greatest = level;
    }
  }
}

}  // namespace penstock::scalar
