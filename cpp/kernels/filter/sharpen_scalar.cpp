#include <initializer_list>

#include "kernels/filter/sharpen.h"

namespace penstock::scalar {
namespace {

int smooth(const uint8_t* pixel, ptrdiff_t stride) {
  int sum = 4 * pixel[0] + 6;
  for (const ptrdiff_t row : {-stride, ptrdiff_t{0}, stride})
    sum += pixel[row - 1] + pixel[row] + pixel[row + 1];
  return sum / 13;
}

uint8_t blend(int smooth_level, int level, float factor) {
  const float product = factor * static_cast<float>(level - smooth_level);
  const float blended = static_cast<float>(smooth_level) + product;
  return blended <= 0 ? 0 : blended >= 255 ? 255 : static_cast<uint8_t>(blended);
}

void sharpen_plane(const PlanarTarget& to, const PlanarView& from, int channel, float factor) {
  for (int y = 1; y < from.height - 1; ++y) {
    const uint8_t* in = from.row(channel, y);
    uint8_t* out = to.row(channel, y);
    for (int x = 1; x < from.width - 1; ++x)
      out[x] = blend(smooth(in + x, from.stride), in[x], factor);
  }
}

}  // namespace

void sharpen_inside(const PlanarTarget& out, const PlanarView& in, float factor) {
  for (int c = 0; c < in.channels; ++c) sharpen_plane(out, in, c, factor);
}

}  // namespace penstock::scalar
