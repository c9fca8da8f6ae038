// Pillow's way to HSV and back, with its mixture of float and double: the roundings are part of
// the result.
#include <algorithm>
#include <cmath>

#include "kernels/colour/variants.h"

namespace penstock::scalar {
namespace {

struct Hsv {
  uint8_t hue, saturation, value;
};

Hsv hsv_of(uint8_t red, uint8_t green, uint8_t blue) {
  const uint8_t greatest = std::max({red, green, blue});
  const uint8_t least = std::min({red, green, blue});
  if (greatest == least) return {0, 0, greatest};
  const auto range = static_cast<float>(greatest - least);
  const float r = static_cast<float>(greatest - red) / range;
  const float g = static_cast<float>(greatest - green) / range;
  const float b = static_cast<float>(greatest - blue) / range;
  float sixth;
  if (red == greatest)
    sixth = b - g;
  else if (green == greatest)
    sixth = static_cast<float>(2.0 + r - b);
  else
    sixth = static_cast<float>(4.0 + g - r);
  const auto hue = static_cast<float>(std::fmod(sixth / 6.0 + 1.0, 1.0));
  const float saturation = range / static_cast<float>(greatest);
  return {static_cast<uint8_t>(hue * 255.0), static_cast<uint8_t>(saturation * 255.0), greatest};
}

uint8_t rounded(double level) { return static_cast<uint8_t>(std::lround(level)); }

}  // namespace

void turn_hue(const PlanarTarget& image, uint8_t turn) {
  for (int y = 0; y < image.height; ++y) {
    uint8_t* red = image.row(0, y);
    uint8_t* green = image.row(1, y);
    uint8_t* blue = image.row(2, y);
    const auto set = [&](int x, uint8_t r, uint8_t g, uint8_t b) {
      red[x] = r;
      green[x] = g;
      blue[x] = b;
    };
    for (int x = 0; x < image.width; ++x) {
      const auto [hue, saturation, v] = hsv_of(red[x], green[x], blue[x]);
      if (saturation == 0) {
        set(x, v, v, v);
        continue;
      }
      const double sixths = static_cast<uint8_t>(hue + turn) * 6.0 / 255.0;
      const int sixth = static_cast<int>(sixths);
      const auto rest = static_cast<float>(sixths - sixth);
      const auto share = static_cast<float>(saturation / 255.0);
      const uint8_t p = rounded(v * (1.0 - share));
      const uint8_t q = rounded(v * (1.0 - share * rest));
      const uint8_t t = rounded(v * (1.0 - share * (1.0 - rest)));
      switch (sixth % 6) {
        case 0:
          set(x, v, t, p);
          break;
        case 1:
          set(x, q, v, p);
          break;
        case 2:
          set(x, p, v, t);
          break;
        case 3:
          set(x, p, q, v);
          break;
        case 4:
          set(x, t, p, v);
          break;
        default:
          set(x, v, p, q);
      }
    }
  }
}

}  // namespace penstock::scalar
