#include "kernels/filter/sharpen.h"

#include <cstring>
#include <initializer_list>

namespace penstock {
void sharpen(const PlanarTarget& out, const PlanarView& in, float factor) {
  const auto inside = PENSTOCK_PICK(sharpen_inside);
  const int width = in.width, height = in.height;
  for (int c = 0; c < in.channels; ++c) {
    // Pillow does not smooth the border, nor anything in an image smaller than its kernel.
    if (width < 3 || height < 3) {
      for (int y = 0; y < height; ++y) std::memcpy(out.row(c, y), in.row(c, y), width);
      continue;
    }
    inside({out.plane[c], out.stride, in.plane[c], in.stride, height, width}, factor);
    for (int y = 1; y < height - 1; ++y) {
      out.row(c, y)[0] = in.row(c, y)[0];
      out.row(c, y)[width - 1] = in.row(c, y)[width - 1];
    }
    for (const int y : {0, height - 1}) std::memcpy(out.row(c, y), in.row(c, y), width);
  }
}

}  // namespace penstock
