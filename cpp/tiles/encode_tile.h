// One coefficient tile as a bit string.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coefficient_image.h"
#include "tiles/tile_grid.h"

namespace penstock {

/// The smallest DC of a component, from which the tiles' own minima are counted.
struct DcRange {
  int minimum = 0;
  int bits = 0;  // of the largest difference
};

DcRange dc_range(const CoefficientComponent& component);

/// Appends tile (row, column). Requires AC coefficients of at most kMaxValueBits bits.
void encode_tile(std::vector<uint8_t>& bytes, const CoefficientImage& image,
                 const DcRange (&ranges)[3], const TileGrid& grid, int row, int column);

}  // namespace penstock
