#include "kernels/colour/lut.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/colour/variants.h"

namespace penstock {
namespace {

template <class Level>
Lut same_for_all_channels(Level level_after) {
  Lut table;
  for (int level = 0; level < 256; ++level)
    table.value[0][level] = static_cast<uint8_t>(level_after(level));
  std::memcpy(table.value[1], table.value[0], 256);
  std::memcpy(table.value[2], table.value[0], 256);
  return table;
}

}  // namespace

void compose(Lut& table, const Lut& next) {
  for (int c = 0; c < 3; ++c)
    for (uint8_t& level : table.value[c]) level = next.value[c][level];
}

Lut blend_table(int from, float factor) {
  const float base = static_cast<float>(from);
  return same_for_all_channels([=](int level) {
    const float blended = base + factor * static_cast<float>(level - from);
    // Written so that a NaN (0 * infinity) becomes 0.
    return blended > 0 ? static_cast<int>(std::min(blended, 255.0f)) : 0;
  });
}

Lut posterize_table(int bits) {
  const int kept = 0xff00 >> std::clamp(bits, 0, 8);
  return same_for_all_channels([=](int level) { return level & kept; });
}

Lut solarize_table(double threshold) {
  return same_for_all_channels([=](int level) { return level < threshold ? level : 255 - level; });
}

Lut solarize_add_table(int amount, double threshold) {
  const int added = std::clamp(amount, -255, 255);
  return same_for_all_channels(
      [=](int level) { return level < threshold ? std::clamp(level + added, 0, 255) : level; });
}

Lut invert_table() {
  return same_for_all_channels([](int level) { return 255 - level; });
}

bool is_bit_change(BitChange& change, const uint8_t* table) {
  change.flip = table[0];
  change.keep = table[255] ^ table[0];
  uint8_t differences = 0;
  for (int level = 0; level < 256; ++level)
    differences |= table[level] ^ static_cast<uint8_t>((level & change.keep) ^ change.flip);
  return differences == 0;
}

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  PENSTOCK_PICK(apply_lut)(out, in, table);
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
