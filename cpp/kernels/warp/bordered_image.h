// The source of a warp as its vector kernels want it: a 32-bit word per pixel, and a border.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

/// red | green << 8 | blue << 16 (gray: three times the same), with kBorder pixels around.
struct BorderedImage {
  static constexpr int kBorder = 3;

  const uint32_t* first = nullptr;  // of the image; the border lies before it
  ptrdiff_t stride = 0;             // in pixels
  int height = 0;
  int width = 0;

  const uint32_t* at(int y, int x) const { return first + y * stride + x; }
};

/// Whether the kernels' 32-bit places reach every pixel of such an image.
bool can_border(const PlanarView& in);

/// The border repeats the image's edge, so that no filter has to look whether a neighbour is there.
/// Lives in `memory`. Requires can_border(in).
BorderedImage make_repeated_border(const PlanarView& in, Buffer& memory);

/// Left of every row lies `fill`, the rest of the border is not set: for images of which single
/// pixels are taken, or the fill. Lives in `memory`. Requires can_border(in).
BorderedImage make_filled_border(const PlanarView& in, uint32_t fill, Buffer& memory);

}  // namespace penstock
