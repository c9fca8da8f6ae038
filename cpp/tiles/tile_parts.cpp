#include "tiles/tile_parts.h"

#include "tiles/decode_tiles.h"

namespace penstock {

TileParts tile_parts(const TileImage& image) {
  const TileGrid& grid = image.grid();
  TileParts parts;
  parts.rows = 8 * grid.factors[0].vertical * grid.tile_mcu_rows;
  parts.around = rows_around(image);
  parts.bytes.reserve(static_cast<size_t>(grid.rows()) + 2);
  parts.bytes.push_back(image.head().size());
  uint64_t rest = image.record().size() - image.head().size();
  for (int row = 0; row < grid.rows(); ++row) {
    uint64_t bytes = 0;
    for (int column = 0; column < grid.columns(); ++column) bytes += image.tile_length(row, column);
    parts.bytes.push_back(bytes);
    rest -= bytes;
  }
  parts.bytes.push_back(rest);
  return parts;
}

}  // namespace penstock
