// Unpacking a tile bit by bit: the oracle of the vector variants.
#include <algorithm>

#include "tiles/tile_reader.h"

namespace penstock::scalar {
namespace {

void take_fields(TileSymbols& symbols, TileCursor& cursor, const TileHead& head,
                 const TileShape& shape) {
  for (int c = 0; c < shape.components; ++c) {
    const TileBlocks& blocks = shape.component[c];
    const int end = blocks.first + blocks.count();
    for (int i = blocks.first; i < end; ++i)
      symbols.dc[i] = static_cast<int16_t>(head.dc_minimum[c] +
                                           static_cast<int>(take(cursor, head.dc_width[c])));
    for (int i = blocks.first; i < end; ++i)
      symbols.end[i] = static_cast<uint8_t>(take(cursor, head.end_width[c]));
  }
}

/// Bit lengths, plane by plane: each has a bit for every value that the one before marked.
bool take_lengths(TileSymbols& symbols, TileCursor& cursor, int values, int longest) {
  std::memset(symbols.length, 1, values);
  int candidates = values;
  for (int level = 1; level < longest; ++level) {
    if (!cursor.has(candidates)) return false;
    candidates = 0;
    for (int i = 0; i < values; ++i) {
      if (symbols.length[i] != level || take(cursor, 1) == 0) continue;
      ++symbols.length[i];
      ++candidates;
    }
  }
  return true;
}

bool take_values(TileSymbols& symbols, TileCursor& cursor, int values) {
  for (int i = 0; i < values; ++i) {
    const int length = std::min<int>(symbols.length[i], tile_layout::kShortBits);
    if (!cursor.has(length)) return false;
    const int bits = static_cast<int>(take(cursor, length));
    const bool is_positive = bits >> (length - 1) != 0;
    symbols.values[i] = static_cast<int8_t>(is_positive ? bits : bits - (1 << length) + 1);
  }
  return true;
}

/// A bit for each of 64 values from i on: whether it is wide.
uint64_t wide_marks(const TileSymbols& symbols, int i) {
  uint64_t marks = 0;
  for (int k = 0; k < 64; ++k)
    marks |= uint64_t{symbols.length[i + k] > tile_layout::kShortBits} << k;
  return marks;
}

}  // namespace

const char* unpack_tile(TileSymbols& symbols, const uint8_t* bytes, int size,
                        const TileImage& image, const TileShape& shape) {
  return unpack_by_stages<take_fields, take_masks_one_by_one, take_lengths, take_values,
                          wide_marks>(symbols, bytes, size, image, shape);
}

const char* unpack_dc(TileSymbols& symbols, const uint8_t* bytes, int size, const TileImage& image,
                      const TileShape& shape) {
  return unpack_dc_by_stages<take_fields>(symbols, bytes, size, image, shape);
}

}  // namespace penstock::scalar
