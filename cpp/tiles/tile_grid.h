// How an image's MCUs are cut into tiles, and where a tile's blocks lie.
#pragma once

#include <algorithm>

namespace penstock {

/// The blocks of one component in one tile: block (row, column) of the tile is number
/// first + row * columns + column among the tile's blocks.
struct TileBlocks {
  int first = 0;
  int rows = 0;
  int columns = 0;

  // Inlined even in unoptimised builds: files for newer instruction sets use it.
  [[gnu::always_inline]] int count() const { return rows * columns; }
};

struct TileShape {
  int components = 0;
  int blocks = 0;  // of all components
  TileBlocks component[3];
};

struct TileGrid {
  int mcu_rows = 0;  // of the image
  int mcu_columns = 0;
  int tile_mcu_rows = 1;  // of a whole tile
  int tile_mcu_columns = 1;
  int components = 0;
  struct {
    int horizontal = 1;
    int vertical = 1;
  } factors[3];

  int rows() const { return (mcu_rows + tile_mcu_rows - 1) / tile_mcu_rows; }
  int columns() const { return (mcu_columns + tile_mcu_columns - 1) / tile_mcu_columns; }

  /// Tiles at the right and at the bottom may have fewer MCUs.
  TileShape shape(int row, int column) const {
    const int high = std::min(tile_mcu_rows, mcu_rows - row * tile_mcu_rows);
    const int wide = std::min(tile_mcu_columns, mcu_columns - column * tile_mcu_columns);
    TileShape shape;
    shape.components = components;
    for (int c = 0; c < components; ++c) {
      shape.component[c] = {shape.blocks, high * factors[c].vertical, wide * factors[c].horizontal};
      shape.blocks += shape.component[c].count();
    }
    return shape;
  }
};

}  // namespace penstock
