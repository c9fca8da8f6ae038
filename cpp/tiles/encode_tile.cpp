#include "tiles/encode_tile.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "codec/zigzag.h"
#include "tiles/bits.h"
#include "tiles/layout.h"

namespace penstock {
namespace {

using namespace tile_layout;

int bit_length(int magnitude) { return std::bit_width(static_cast<unsigned>(magnitude)); }

struct Value {
  int length;     // bits of the magnitude
  unsigned bits;  // JPEG's additional bits
};

Value value_of(int coefficient) {
  const int length = bit_length(std::abs(coefficient));
  const int bits = coefficient > 0 ? coefficient : coefficient + (1 << length) - 1;
  return {length, static_cast<unsigned>(bits)};
}

/// A tile's contents as they are written.
struct TileContents {
  int dc[kMaxTileBlocks];
  int end[kMaxTileBlocks];
  uint64_t mask[kMaxTileBlocks];  // bit i: zigzag position i is not zero
  Value value[kMaxTileValues];
  int values = 0;
  int longest = 0;
};

void collect_block(TileContents& tile, int number, const int16_t* block) {
  tile.dc[number] = block[0];
  tile.end[number] = 0;
  tile.mask[number] = 0;
  for (int position = 1; position < 64; ++position) {
    const int coefficient = block[kNaturalOrder[position]];
    if (coefficient == 0) continue;
    const Value value = value_of(coefficient);
    tile.end[number] = position;
    tile.mask[number] |= uint64_t{1} << position;
    tile.value[tile.values++] = value;
    tile.longest = std::max(tile.longest, value.length);
  }
}

void collect(TileContents& tile, const CoefficientImage& image, const TileGrid& grid,
             const TileShape& shape, int tile_row, int tile_column) {
  for (int c = 0; c < shape.components; ++c) {
    const CoefficientComponent& component = image.component[c];
    const TileBlocks& blocks = shape.component[c];
    const int top = tile_row * grid.tile_mcu_rows * component.vertical;
    const int left = tile_column * grid.tile_mcu_columns * component.horizontal;
    for (int y = 0; y < blocks.rows; ++y)
      for (int x = 0; x < blocks.columns; ++x)
        collect_block(tile, blocks.first + y * blocks.columns + x,
                      component.block(top + y, left + x));
  }
}

/// Minimum and widths of one component's fields.
struct FieldWidths {
  int dc_minimum;
  int dc_width;
  int end_width;
};

FieldWidths widths_of(const TileContents& tile, const TileBlocks& blocks) {
  const auto dc =
      std::minmax_element(tile.dc + blocks.first, tile.dc + blocks.first + blocks.count());
  const int end =
      *std::max_element(tile.end + blocks.first, tile.end + blocks.first + blocks.count());
  return {*dc.first, bit_length(*dc.second - *dc.first), bit_length(end)};
}

void put_fields(BitWriter& writer, const TileContents& tile, const TileShape& shape,
                const DcRange (&ranges)[3]) {
  FieldWidths widths[3];
  for (int c = 0; c < shape.components; ++c) {
    widths[c] = widths_of(tile, shape.component[c]);
    writer.put(widths[c].dc_minimum - ranges[c].minimum, ranges[c].bits);
    writer.put(widths[c].dc_width, kDcWidthBits);
    writer.put(widths[c].end_width, kEndWidthBits);
  }
  writer.put(tile.longest, kLongestBits);
  for (int c = 0; c < shape.components; ++c) {
    const TileBlocks& blocks = shape.component[c];
    for (int i = blocks.first; i < blocks.first + blocks.count(); ++i)
      writer.put(tile.dc[i] - widths[c].dc_minimum, widths[c].dc_width);
    for (int i = blocks.first; i < blocks.first + blocks.count(); ++i)
      writer.put(tile.end[i], widths[c].end_width);
  }
}

void put_masks(BitWriter& writer, const TileContents& tile, const TileShape& shape) {
  for (int i = 0; i < shape.blocks; ++i) {
    for (int position = 1; position < tile.end[i]; ++position)
      writer.put(tile.mask[i] >> position & 1, 1);
  }
}

void put_values(BitWriter& writer, const TileContents& tile) {
  const auto each = [&tile](auto put) {
    for (int i = 0; i < tile.values; ++i) put(tile.value[i]);
  };
  for (int level = 1; level < tile.longest; ++level) {
    each([&](const Value& value) {
      if (value.length >= level) writer.put(value.length > level, 1);
    });
  }
  each([&](const Value& value) {
    const int extra = std::max(0, value.length - kShortBits);
    writer.put(value.bits >> extra, value.length - extra);
  });
  each([&](const Value& value) {
    const int extra = std::max(0, value.length - kShortBits);
    writer.put(value.bits & ((1u << extra) - 1), extra);
  });
}

}  // namespace

DcRange dc_range(const CoefficientComponent& component) {
  DcRange range;
  int largest = range.minimum = component.coefficients[0];
  for (size_t i = 0; i < component.coefficients.size(); i += 64) {
    range.minimum = std::min<int>(range.minimum, component.coefficients[i]);
    largest = std::max<int>(largest, component.coefficients[i]);
  }
  range.bits = bit_length(largest - range.minimum);
  return range;
}

void encode_tile(std::vector<uint8_t>& bytes, const CoefficientImage& image,
                 const DcRange (&ranges)[3], const TileGrid& grid, int row, int column) {
  const TileShape shape = grid.shape(row, column);
  TileContents tile;
  collect(tile, image, grid, shape, row, column);
  BitWriter writer(bytes);
  put_fields(writer, tile, shape, ranges);
  put_masks(writer, tile, shape);
  put_values(writer, tile);
  writer.align();
}

}  // namespace penstock
