#include "tiles/encode_tile.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tiles/layout.h"
#include "tiles/tile_values.h"

namespace penstock {

// Bit strings, least significant bit first.

static_assert(std::endian::native == std::endian::little, "bit strings are read as whole words");

/// Writes to memory that the caller has made large enough, in whole words.
class BitWriter {
 public:
  explicit BitWriter(uint8_t* target) : next_(target) {}

  /// Requires 0 <= count <= 63 and bits < 2^count.
  void put(uint64_t bits, int count) {
    pending_ |= bits << filled_;
    filled_ += count;
    if (filled_ < 64) return;
    std::memcpy(next_, &pending_, sizeof pending_);
    next_ += sizeof pending_;
    filled_ -= 64;
    pending_ = bits >> (count - filled_);  // filled_ < count, for a word was not full before
  }

  /// Fills up the last byte with zeros and returns the end of what was written.
  uint8_t* finish() {
    std::memcpy(next_, &pending_, sizeof pending_);
    return next_ + (filled_ + 7) / 8;
  }

 private:
  uint8_t* next_;
  uint64_t pending_ = 0;
  int filled_ = 0;  // bits, at most 63
};

namespace {

using namespace tile_layout;

int bit_length(int magnitude) { return std::bit_width(static_cast<unsigned>(magnitude)); }

constexpr int kMostValues = kMaxTileValues + kSpareValues;

/// A tile's contents as they are written.
struct TileContents {
  int dc[kMaxTileBlocks];
  int end[kMaxTileBlocks];
  uint64_t mask[kMaxTileBlocks];  // bit i: zigzag position i is not zero
  int values = 0;
  int longest = 0;
  uint8_t length[kMostValues];  // bits of a value's magnitude
  uint16_t bits[kMostValues];   // JPEG's additional bits
};

void collect(TileContents& tile, const CoefficientImage& image, const TileGrid& grid,
             const TileShape& shape, int tile_row, int tile_column) {
  int16_t values[kMostValues];
  const auto list = PENSTOCK_PICK(list_values);
  for (int c = 0; c < shape.components; ++c) {
    const CoefficientComponent& component = image.component[c];
    const TileBlocks& blocks = shape.component[c];
    const int top = tile_row * grid.tile_mcu_rows * component.vertical;
    const int left = tile_column * grid.tile_mcu_columns * component.horizontal;
    for (int y = 0; y < blocks.rows; ++y) {
      const int first = blocks.first + y * blocks.columns;
      const int16_t* row = component.block(top + y, left);
      tile.values += list(values + tile.values, tile.mask + first, row, blocks.columns);
      for (int x = 0; x < blocks.columns; ++x) {
        const uint64_t present = tile.mask[first + x] & ~uint64_t{1};
        tile.dc[first + x] = row[64 * x];
        tile.end[first + x] = present == 0 ? 0 : std::bit_width(present) - 1;
      }
    }
  }
  std::memset(values + tile.values, 0, kSpareValues * sizeof *values);
  tile.longest = PENSTOCK_PICK(spell_values)(tile.length, tile.bits, values, tile.values);
  for (int i = tile.values; i < tile.values + kJoinedValues; ++i) tile.length[i] = tile.bits[i] = 0;
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
    if (tile.end[i] < 2) continue;
    const int count = tile.end[i] - 1;
    writer.put(tile.mask[i] >> 1 & ((uint64_t{1} << count) - 1), count);
  }
}

/// Which values are longer than one bit; which of those are longer than two; and so on.
void put_length_planes(BitWriter& writer, const TileContents& tile) {
  const auto mark = PENSTOCK_PICK(mark_longer);
  uint64_t plane[kMostValues / 64 + 1];
  uint8_t longer[kMostValues];
  const uint8_t* lengths = tile.length;
  int count = tile.values;
  for (int level = 1; level < tile.longest; ++level) {
    const int marked = mark(plane, longer, lengths, count, level);
    for (int first = 0; first < count; first += 32)
      writer.put(plane[first / 64] >> first % 64 & 0xFFFFFFFF, std::min(32, count - first));
    lengths = longer;
    count = marked;
  }
}

void put_values(BitWriter& writer, const TileContents& tile) {
  uint32_t joined[kMostValues / kJoinedValues];
  uint8_t widths[kMostValues / kJoinedValues];
  PENSTOCK_PICK(join_values)(joined, widths, tile.bits, tile.length, tile.values);
  for (int i = 0; i * kJoinedValues < tile.values; ++i) writer.put(joined[i], widths[i]);
  if (tile.longest <= kShortBits) return;
  for (int i = 0; i < tile.values; ++i) {
    const int extra = std::max(0, tile.length[i] - kShortBits);
    writer.put(tile.bits[i] & ((1u << extra) - 1), extra);
  }
}

// Per block: DC, end, mask, and 63 values with all their planes and bits.
constexpr size_t kMostTileBytes = 64 + kMaxTileBlocks * (16 + 6 + 63 + 63 * 2 * kMaxValueBits) / 8;

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
  uint8_t encoded[kMostTileBytes];
  BitWriter writer(encoded);
  put_fields(writer, tile, shape, ranges);
  put_masks(writer, tile, shape);
  put_length_planes(writer, tile);
  put_values(writer, tile);
  bytes.insert(bytes.end(), encoded, writer.finish());
}

}  // namespace penstock
