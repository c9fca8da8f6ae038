// What the warps that have vector kernels begin with.
#pragma once

#include <algorithm>

#include "kernels/warp/warp_rows.h"

namespace penstock {

inline bool has_vectors(const PlanarView& in) {
  return PENSTOCK_PICK(warp_rows) != nullptr && can_border(in);
}

inline uint32_t word_of(const uint8_t (&fill)[3]) {
  return fill[0] | uint32_t{fill[1]} << 8 | uint32_t{fill[2]} << 16;
}

template <class Body>
void for_each_part(const PlanarTarget& out, Body body) {
  RowPart part;
  part.channels = out.channels;
  for (part.y = 0; part.y < out.height; ++part.y)
    for (part.x = 0; part.x < out.width; part.x += kPartPixels) {
      part.count = std::min(kPartPixels, out.width - part.x);
      for (int c = 0; c < out.channels; ++c) part.pixels[c] = out.row(c, part.y) + part.x;
      body(part);
    }
}

}  // namespace penstock
