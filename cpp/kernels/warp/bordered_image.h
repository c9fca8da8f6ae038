// The source of a warp as its vector kernels want it: one 32-bit word a pixel, edges repeated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

/// red | green << 8 | blue << 16 (gray: three times the same). Around the image lie kBorder pixels
/// that repeat its edge, so that no filter has to look whether a neighbour is there.
struct BorderedImage {
  static constexpr int kBorder = 2;

  const uint32_t* first = nullptr;  // of the image; the border lies before it
  ptrdiff_t stride = 0;             // in pixels
  int height = 0;
  int width = 0;

  const uint32_t* at(int y, int x) const { return first + y * stride + x; }
};

/// Whether the kernels' 32-bit places reach every pixel of such an image.
bool can_border(const PlanarView& in);

/// Lives in `memory`. Requires can_border(in).
BorderedImage make_bordered(const PlanarView& in, Buffer& memory);

}  // namespace penstock
