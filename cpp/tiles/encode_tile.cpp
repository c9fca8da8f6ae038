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

/// A tile's contents as they are written.
struct TileContents {
  int dc[kMaxTileBlocks];
  int end[kMaxTileBlocks];
  uint64_t mask[kMaxTileBlocks];      // bit i: zigzag position i is not zero
  int16_t value[kMaxTileValues + 1];  // of all blocks; one is written too many
  uint8_t length[kMaxTileValues];     // bits of the magnitude
  int values = 0;
  int longest = 0;
};

/// Without branches, for which coefficients are zero cannot be foreseen.
void collect_block(TileContents& tile, int number, const int16_t* block) {
  uint64_t mask = 0;
  int values = tile.values;
  for (int position = 1; position < 64; ++position) {
    const int16_t coefficient = block[kNaturalOrder[position]];
    const uint64_t is_set = coefficient != 0;
    tile.value[values] = coefficient;
    values += static_cast<int>(is_set);
    mask |= is_set << position;
  }
  tile.dc[number] = block[0];
  tile.mask[number] = mask;
  tile.end[number] = mask == 0 ? 0 : std::bit_width(mask) - 1;
  tile.values = values;
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
  for (int i = 0; i < tile.values; ++i) {
    tile.length[i] = static_cast<uint8_t>(bit_length(std::abs(tile.value[i])));
    tile.longest = std::max<int>(tile.longest, tile.length[i]);
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
    if (tile.end[i] == 0) continue;
    const int count = tile.end[i] - 1, first = std::min(count, 32);
    const uint64_t bits = (tile.mask[i] >> 1) & ((uint64_t{1} << count) - 1);
    writer.put(bits & 0xFFFFFFFF, first);
    writer.put(bits >> 32, count - first);
  }
}

/// Each plane has a bit for every value that the one before marked.
void put_lengths(BitWriter& writer, const TileContents& tile) {
  uint8_t candidates[kMaxTileValues + 1];
  std::copy_n(tile.length, tile.values, candidates);
  int count = tile.values;
  for (int level = 1; level < tile.longest; ++level) {
    int longer = 0;
    for (int i = 0; i < count;) {
      const int begin = i, end = std::min(count, i + BitWriter::kMaxBits);
      uint64_t bits = 0;
      for (; i < end; ++i) {
        const uint64_t is_longer = candidates[i] > level;
        bits |= is_longer << (i - begin);
        candidates[longer] = candidates[i];
        longer += static_cast<int>(is_longer);
      }
      writer.put(bits, end - begin);
    }
    count = longer;
  }
}

/// What follows a JPEG's Huffman code of a coefficient: a number of `length` bits.
unsigned additional_bits(int coefficient, int length) {
  return static_cast<unsigned>(coefficient + ((coefficient >> 31) & ((1 << length) - 1)));
}

void put_values(BitWriter& writer, const TileContents& tile) {
  uint64_t word = 0;
  int filled = 0;
  for (int i = 0; i < tile.values; ++i) {
    const int length = tile.length[i], extra = std::max(0, length - kShortBits);
    word |= uint64_t{additional_bits(tile.value[i], length) >> extra} << filled;
    filled += length - extra;
    if (filled <= BitWriter::kMaxBits - kShortBits) continue;
    writer.put(word, filled);
    word = 0;
    filled = 0;
  }
  writer.put(word, filled);
}

void put_extras(BitWriter& writer, const TileContents& tile) {
  for (int i = 0; i < tile.values; ++i) {
    const int length = tile.length[i], extra = length - kShortBits;
    if (extra <= 0) continue;
    writer.put(additional_bits(tile.value[i], length) & ((1u << extra) - 1), extra);
  }
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
  uint8_t written[kMaxTileBytes + sizeof(uint64_t)];
  BitWriter writer(written);
  put_fields(writer, tile, shape, ranges);
  put_masks(writer, tile, shape);
  put_lengths(writer, tile);
  put_values(writer, tile);
  if (tile.longest > kShortBits) put_extras(writer, tile);
  bytes.insert(bytes.end(), written, writer.end());
}

}  // namespace penstock
