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

}  // namespace

void sharpen_inside(const PlaneRows& plane, float factor) {
  for (int y = 1; y < plane.height - 1; ++y) {
    const uint8_t* in = plane.in + y * plane.in_stride;
    uint8_t* out = plane.out + y * plane.out_stride;
    for (int x = 1; x < plane.width - 1; ++x)
      out[x] = blend(smooth(in + x, plane.in_stride), in[x], factor);
  }
}

}  // namespace penstock::scalar
