// A `dct` record in the parts that can be read and checked one by one: see docs/format.md.
#pragma once

#include <cstdint>
#include <vector>

#include "tiles/tile_image.h"

namespace penstock {

struct TileParts {
  std::vector<uint64_t> bytes;  // of the head, of each row of tiles, and of what follows them
  int rows = 0;                 // of pixels in a row of tiles; the last one may have fewer
  int around = 0;               // see rows_around
};

/// Requires an image that was parsed. Reads no more of its record than the head.
TileParts tile_parts(const TileImage& image);

}  // namespace penstock
