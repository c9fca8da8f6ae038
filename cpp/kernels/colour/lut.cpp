#include "kernels/colour/lut.h"

#include <cmath>
#include <cstring>

#include "kernels/colour/variants.h"

namespace penstock {

void compose(Lut& table, const Lut& next) {
  for (int c = 0; c < 3; ++c)
    for (uint8_t& level : table.value[c]) level = next.value[c][level];
}

bool is_bit_change(BitChange& change, const uint8_t* table) {
  change.flip = table[0];
  change.keep = table[255] ^ table[0];
  for (int level = 0; level < 256; ++level)  // nearly all others differ at one of the first
    if (table[level] != static_cast<uint8_t>((level & change.keep) ^ change.flip)) return false;
  return true;
}

LevelMap::LevelMap(const Lut& levels, int channels) : table(levels) {
  for (int c = 0; c < channels; ++c) {
    const bool is_repeated = c > 0 && std::memcmp(levels.value[c], levels.value[c - 1], 256) == 0;
    change[c] = is_repeated ? change[c - 1] : BitChange{};
    changes_bits[c] = is_repeated ? changes_bits[c - 1] : is_bit_change(change[c], levels.value[c]);
  }
}

void LevelMap::apply(const PlanarTarget& out, const PlanarView& in) const {
  PENSTOCK_PICK(map_levels)(out, in, *this);
}

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  LevelMap(table, in.channels).apply(out, in);
}

bool make_blend_steps(BlendSteps& steps, float factor) {
  // A sum below 256 keeps at least 16 bits behind the point. Whatever rounds up to a whole level
  // is nearer to it than one such bit.
  constexpr float kNear = 1.0f / (1 << 16);
  const float size = std::fabs(factor);
  if (!(size <= 1e6f)) return false;  // so that every product fits an int
  bool exact = true;
  for (int distance = 0; distance < 256; ++distance) {
    const float moved = size * static_cast<float>(distance);
    const int whole = static_cast<int>(moved);
    const float rest = moved - static_cast<float>(whole);
    exact &= !(rest > 1 - kNear) && !(rest > 0 && rest < kNear);
    const int up = whole, down = whole + (rest > 0);
    steps.up[distance] = static_cast<uint8_t>(up < 255 ? up : 255);
    steps.down[distance] = static_cast<uint8_t>(down < 255 ? down : 255);
  }
  return exact;
}

}  // namespace penstock
