// Tables from level to level, and the least and greatest level.
#include "kernels/colour/variants.h"
#include "kernels/colour/vectors.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kStep = kVectorBytes;

struct Range {
  Vector least = MM(set1_epi8)(-1);
  Vector greatest = zero();
};

template <class Map>
Range range_of(const PlanarView& image, int channel, const Map& map) {
  Range range;
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(channel, y);
    for (int x = 0; x < image.width; x += kStep) {
      const Vector levels = map(load(row + x));
      const ByteMask inside = first_bytes(image.width - x);
      range.least = min_where(inside, range.least, levels);
      range.greatest = max_where(inside, range.greatest, levels);
    }
  }
  return range;
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

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  for (int c = 0; c < in.channels; ++c) {
    BitChange change;
    if (!is_bit_change(change, table.value[c])) {
      map_channel(out, in, c, Lookup(table.value[c]));
      continue;
    }
    const Vector keep = repeated(change.keep), flip = repeated(change.flip);
    map_channel(out, in, c,
                [=](Vector levels) { return MM_SI(xor)(MM_SI (and)(levels, keep), flip); });
  }
}

void find_extremes(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                   const uint8_t* table) {
  const Range range = table == nullptr
                          ? range_of(image, channel, [](Vector levels) { return levels; })
                          : range_of(image, channel, Lookup(table));
  alignas(Vector) uint8_t low[kStep], high[kStep];
  store(low, range.least);
  store(high, range.greatest);
  least = low[0];
  greatest = high[0];
  for (int i = 1; i < kStep; ++i) {
    if (low[i] < least) least = low[i];
    if (high[i] > greatest) greatest = high[i];
  }
}

}  // namespace penstock::PENSTOCK_ISA
