#include <initializer_list>

#include "kernels/colour/variants.h"

namespace penstock::scalar {
namespace {

int luma(int red, int green, int blue) {
  return (red * kLumaRed + green * kLumaGreen + blue * kLumaBlue + kLumaHalf) >> 16;
}

uint8_t blend(int from, int to, float factor) {
  const float blended = static_cast<float>(from) + factor * static_cast<float>(to - from);
  // Written so that a NaN (0 * infinity) becomes 0.
  return static_cast<uint8_t>(blended > 0 ? (blended < 255 ? blended : 255.0f) : 0.0f);
}

}  // namespace

uint64_t sum_luma(const PlanarView& image, const Lut* table) {
  uint64_t sum = 0;
  const int green = image.channels == 1 ? 0 : 1, blue = image.channels == 1 ? 0 : 2;
  const auto level = [&](int c, int y, int x) {
    const uint8_t stored = image.row(c, y)[x];
    return table == nullptr ? stored : table->value[c][stored];
  };
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      sum += luma(level(0, y, x), level(green, y, x), level(blue, y, x));
  return sum;
}

void to_gray(const PlanarTarget& out, const PlanarView& in) {
  for (int y = 0; y < in.height; ++y) {
    uint8_t* gray = out.row(0, y);
    const uint8_t* red = in.row(0, y);
    const uint8_t* green = in.row(1, y);
    const uint8_t* blue = in.row(2, y);
    for (int x = 0; x < in.width; ++x)
      gray[x] = static_cast<uint8_t>(luma(red[x], green[x], blue[x]));
  }
}

void saturate(const PlanarTarget& image, float factor) {
  for (int y = 0; y < image.height; ++y) {
    uint8_t* red = image.row(0, y);
    uint8_t* green = image.row(1, y);
    uint8_t* blue = image.row(2, y);
    for (int x = 0; x < image.width; ++x) {
      const int gray = luma(red[x], green[x], blue[x]);
      for (uint8_t* channel : {red, green, blue}) channel[x] = blend(gray, channel[x], factor);
    }
  }
}

}  // namespace penstock::scalar
