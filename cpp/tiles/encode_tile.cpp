#include "tiles/encode_tile.h"

#include <algorithm>
#include <bit>

#include "codec/zigzag.h"
#include "codec/zigzag_masks.h"
#include "tiles/bits.h"
#include "tiles/layout.h"

namespace penstock {
namespace {

using namespace tile_layout;

// Every block with every coefficient as long as can be, the widest fields, and a word to spare.
constexpr size_t kMostTileBytes =
    (kMaxTileBlocks * (kMaxDcWidth + kMaxEndWidth + 63) + kMaxTileValues * 2 * kMaxValueBits) / 8 +
    64;

int bit_length(int magnitude) { return std::bit_width(static_cast<unsigned>(magnitude)); }

/// A tile's contents as they are written.
struct TileContents {
  int dc[kMaxTileBlocks];
  int end[kMaxTileBlocks];
  uint64_t mask[kMaxTileBlocks];   // bit i: zigzag position i is not zero
  uint8_t length[kMaxTileValues];  // bits of each magnitude
  uint16_t bits[kMaxTileValues];   // JPEG's additional bits
  int values = 0;
  int longest = 0;
};

void collect_block(TileContents& tile, int number, const int16_t* block) {
  const uint64_t mask = tile.mask[number] & ~uint64_t{1};
  tile.mask[number] = mask;
  tile.dc[number] = block[0];
  tile.end[number] = mask == 0 ? 0 : std::bit_width(mask) - 1;
  int values = tile.values;
  for (uint64_t left = mask; left != 0; left &= left - 1)
    tile.bits[values++] = static_cast<uint16_t>(block[kNaturalOrder[std::countr_zero(left)]]);
  tile.values = values;
}

/// From the coefficients, which `bits` holds so far, to lengths and additional bits. Without
/// branches: signs cannot be predicted.
void split_values(TileContents& tile) {
  int magnitudes = 0;
  for (int i = 0; i < tile.values; ++i) {
    const int coefficient = static_cast<int16_t>(tile.bits[i]);
    const int sign = coefficient >> 31;
    const int magnitude = (coefficient ^ sign) - sign;
    const int length = bit_length(magnitude);
    magnitudes |= magnitude;
    tile.length[i] = static_cast<uint8_t>(length);
    tile.bits[i] = static_cast<uint16_t>(coefficient + (sign & ((1 << length) - 1)));
  }
  tile.longest = bit_length(magnitudes);
}

void collect(TileContents& tile, const CoefficientImage& image, const TileGrid& grid,
             const TileShape& shape, int tile_row, int tile_column) {
  const ZigzagMasks masks_of = zigzag_masks();
  for (int c = 0; c < shape.components; ++c) {
    const CoefficientComponent& component = image.component[c];
    const TileBlocks& blocks = shape.component[c];
    const int top = tile_row * grid.tile_mcu_rows * component.vertical;
    const int left = tile_column * grid.tile_mcu_columns * component.horizontal;
    for (int y = 0; y < blocks.rows; ++y) {
      const int first = blocks.first + y * blocks.columns;
      masks_of(tile.mask + first, component.block(top + y, left), blocks.columns);
      for (int x = 0; x < blocks.columns; ++x)
        collect_block(tile, first + x, component.block(top + y, left + x));
    }
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
    const int count = tile.end[i] - 1;
    const uint64_t bits = tile.mask[i] >> 1 & ((uint64_t{1} << count) - 1);
    const int low = std::min(count, BitWriter::kMostBits);
    writer.put(bits & ((uint64_t{1} << low) - 1), low);
    writer.put(bits >> low, count - low);
  }
}

/// One plane after the other: which of the values that are left are longer than `level`?
void put_planes(BitWriter& writer, const TileContents& tile) {
  uint8_t left[kMaxTileValues];
  std::copy_n(tile.length, tile.values, left);
  int count = tile.values;
  for (int level = 1; level < tile.longest; ++level) {
    int longer = 0;
    for (int i = 0; i < count;) {
      const int chunk = std::min(BitWriter::kMostBits, count - i);
      uint64_t bits = 0;
      for (int k = 0; k < chunk; ++k, ++i) {
        const uint8_t length = left[i];
        const bool more = length > level;
        bits |= uint64_t{more} << k;
        left[longer] = length;
        longer += more;
      }
      writer.put(bits, chunk);
    }
    count = longer;
  }
}

void put_values(BitWriter& writer, const TileContents& tile) {
  for (int i = 0; i < tile.values; ++i) {
    const int extra = std::max(0, tile.length[i] - kShortBits);
    writer.put(tile.bits[i] >> extra, tile.length[i] - extra);
  }
  for (int i = 0; i < tile.values; ++i) {
    if (tile.length[i] <= kShortBits) continue;
    const int extra = tile.length[i] - kShortBits;
    writer.put(tile.bits[i] & ((1u << extra) - 1), extra);
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
  split_values(tile);

  uint8_t written[kMostTileBytes];
  BitWriter writer(written);
  put_fields(writer, tile, shape, ranges);
  put_masks(writer, tile, shape);
  put_planes(writer, tile);
  put_values(writer, tile);
  bytes.insert(bytes.end(), written, writer.finish());
}

}  // namespace penstock
