#include <algorithm>

#include "tiles/decode_tiles.h"
#include "tiles/tile_scratch.h"

namespace penstock {
namespace {

void place_blocks(CoefficientImage& coefficients, const TileSymbols& symbols, const TileGrid& grid,
                  const TileShape& shape, int tile_row, int tile_column) {
  const auto expand = PENSTOCK_PICK(expand_block);
  constexpr int kLast = 63;
  for (int c = 0; c < shape.components; ++c) {
    CoefficientComponent& component = coefficients.component[c];
    const TileBlocks& blocks = shape.component[c];
    const int top = tile_row * grid.tile_mcu_rows * component.vertical;
    const int left = tile_column * grid.tile_mcu_columns * component.horizontal;
    for (int y = 0; y < blocks.rows; ++y)
      for (int x = 0; x < blocks.columns; ++x)
        expand(component.block(top + y, left + x), symbols, blocks.first + y * blocks.columns + x,
               kLast);
  }
}

/// Unpacks one tile after the other; take(shape, row, column) then finds it in `symbols`.
template <class Take>
const char* unpack_all(TileSymbols& symbols, const TileImage& image, const Take& take) {
  const TileGrid& grid = image.grid();
  const auto unpack = PENSTOCK_PICK(unpack_tile);
  const uint8_t* tile = image.tile_row(0);
  for (int row = 0; row < grid.rows(); ++row)
    for (int column = 0; column < grid.columns(); ++column) {
      const int length = image.tile_length(row, column);
      if (!image.has_tile(tile, length)) return kBadLengths;
      const TileShape shape = grid.shape(row, column);
      if (const char* problem = unpack(symbols, tile, length, image, shape)) return problem;
      take(shape, row, column);
      tile += length;
    }
  return nullptr;
}

}  // namespace

const char* read_tiles(CoefficientImage& coefficients, const TileImage& image,
                       TileScratch& scratch) {
  const TileGrid& grid = image.grid();
  coefficients.height = image.height();
  coefficients.width = image.width();
  coefficients.components = image.components();
  coefficients.colour = image.colour();
  for (int c = 0; c < image.components(); ++c) {
    CoefficientComponent& component = coefficients.component[c];
    component.horizontal = grid.factors[c].horizontal;
    component.vertical = grid.factors[c].vertical;
    std::copy_n(image.component(c).quant, 64, component.quant);
  }
  allocate_blocks(coefficients);

  TileSymbols& symbols = scratch.state().symbols;
  return unpack_all(symbols, image, [&](const TileShape& shape, int row, int column) {
    place_blocks(coefficients, symbols, grid, shape, row, column);
  });
}

const char* check_tiles(const TileImage& image, TileScratch& scratch) {
  return unpack_all(scratch.state().symbols, image, [](const TileShape&, int, int) {});
}

}  // namespace penstock
