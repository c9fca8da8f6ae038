#include "kernels/filter/sharpen.h"

#include <cstring>
#include <initializer_list>

#include "base/cpu.h"

namespace penstock {
namespace {

SharpenInside sharpen_inside() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return sharpen_inside_avx512;
    case Isa::avx2:
      return sharpen_inside_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return sharpen_inside_scalar;
}

}  // namespace

void sharpen(const PlanarTarget& out, const PlanarView& in, float factor) {
  const SharpenInside inside = sharpen_inside();
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
