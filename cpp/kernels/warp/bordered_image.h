// The source of a warp as its vector kernels want it: a 32-bit word per pixel, and a border.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/warp/warp.h"

namespace penstock {

/// red | green << 8 | blue << 16 (gray: three times the same), with kBorder pixels around.
struct BorderedImage {
  static constexpr int kBorder = 3;

  const uint32_t* first = nullptr;  // of the whole image, even if that pixel is not there
  ptrdiff_t stride = 0;             // in pixels
  int height = 0;                   // of the whole image
  int width = 0;
  int32_t origin =
      0;  // the first pixel that is there, in words from `first`; its border lies before

  const uint32_t* at(int y, int x) const { return first + y * stride + x; }
};

/// Whether the kernels' 32-bit places reach every pixel of the whole image, of which `in` is there.
bool can_border(const PlanarView& in, const WarpFrame& frame);

/// Both below copy what is `needed` of the image, in its pixels; the rest may be anything.

/// The border repeats the image's edge, so that no filter has to look whether a neighbour is there.
/// Lives in `memory`. Requires can_border.
BorderedImage make_repeated_border(const PlanarView& in, const WarpFrame& frame,
                                   const Outline& needed, Buffer& memory);

/// Left of every row lies `fill`, the rest of the border is not set: for images of which single
/// pixels are taken, or the fill. Lives in `memory`. Requires can_border.
BorderedImage make_filled_border(const PlanarView& in, const WarpFrame& frame,
                                 const Outline& needed, uint32_t fill, Buffer& memory);

}  // namespace penstock
