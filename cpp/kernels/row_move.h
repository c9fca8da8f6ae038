// Images whose rows move as a whole: by whole pixels along both axes, or sheared along rows.
#pragma once

#include <cstdint>

namespace penstock {

/// Row y of the result is row y + down of the image; its pixel x is that row's pixel x + across(y).
struct RowMove {
  int down = 0;
  // In 16.16 bits, of which sums wrap around, as Pillow's do.
  uint32_t start = 0;
  uint32_t slope = 0;

  int across(int y) const {
    return static_cast<int32_t>(start + slope * static_cast<uint32_t>(y)) >> 16;
  }
};

/// An image that lies, moved, in an output of this size; `fill` is where the output has no pixel of
/// it.
struct Placement {
  int height = 0;
  int width = 0;
  RowMove move;
  uint8_t fill[3] = {};
};

}  // namespace penstock
