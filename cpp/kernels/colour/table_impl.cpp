// Tables from level to level, and the least and greatest level.
#include "kernels/colour/variants.h"
#include "kernels/colour/vectors.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kStep = kVectorBytes;

template <class Map>
void widen(ExtremeLanes& lanes, const PlanarView& image, int channel, const Map& map) {
  static_assert(kStep <= ExtremeLanes::kLanes);
  Vector least = load(lanes.least), greatest = load(lanes.greatest);
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(channel, y);
    for (int x = 0; x < image.width; x += kStep) {
      const Vector levels = map(load(row + x));
      const ByteMask inside = first_bytes(image.width - x);
      least = min_where(inside, least, levels);
      greatest = max_where(inside, greatest, levels);
    }
  }
  store(lanes.least, least);
  store(lanes.greatest, greatest);
}

template <class Map>
void map_channel(const PlanarTarget& out, const PlanarView& in, int channel, const Map& map) {
  for (int y = 0; y < in.height; ++y) {
    const uint8_t* levels = in.row(channel, y);
    uint8_t* row = out.row(channel, y);
    for (int x = 0; x < in.width; x += kStep) store(row + x, map(load(levels + x)));
  }
}

Vector repeated(uint8_t level) { return MM(set1_epi8)(static_cast<char>(level)); }

}  // namespace

void map_levels(const PlanarTarget& out, const PlanarView& in, const LevelMap& map) {
  for (int c = 0; c < in.channels; ++c) {
    if (!map.changes_bits[c]) {
      map_channel(out, in, c, Lookup(map.table.value[c]));
      continue;
    }
    const Vector keep = repeated(map.change[c].keep), flip = repeated(map.change[c].flip);
    map_channel(out, in, c,
                [=](Vector levels) { return MM_SI(xor)(MM_SI (and)(levels, keep), flip); });
  }
}

void widen_extremes(ExtremeLanes& lanes, const PlanarView& image, int channel,
                    const uint8_t* table) {
  if (table == nullptr)
    widen(lanes, image, channel, [](Vector levels) { return levels; });
  else
    widen(lanes, image, channel, Lookup(table));
}

}  // namespace penstock::PENSTOCK_ISA
