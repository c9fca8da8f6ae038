#include "kernels/filter/sharpen.h"

#include <cstring>

namespace penstock {

void sharpen(const PlanarTarget& out, const PlanarView& in, float factor) {
  const int width = in.width, height = in.height;
  const auto keep_row = [&](int y) {
    for (int c = 0; c < in.channels; ++c) std::memcpy(out.row(c, y), in.row(c, y), width);
  };
  // Pillow does not smooth the border, nor anything in an image smaller than its kernel.
  if (width < 3 || height < 3) {
    for (int y = 0; y < height; ++y) keep_row(y);
    return;
  }
  PENSTOCK_PICK(sharpen_inside)(out, in, factor);
  for (int c = 0; c < in.channels; ++c)
    for (int y = 1; y < height - 1; ++y) {
      out.row(c, y)[0] = in.row(c, y)[0];
      out.row(c, y)[width - 1] = in.row(c, y)[width - 1];
    }
  keep_row(0);
  keep_row(height - 1);
}

}  // namespace penstock
