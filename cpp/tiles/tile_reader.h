// The parts of reading a tile that every variant shares. Included only by the unpack_tile_*.cpp
// files; everything is static, so that each keeps its own copy for its own instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#include "tiles/layout.h"
#include "tiles/tile_symbols.h"

namespace penstock {
namespace {

inline constexpr char kBadHead[] = "a tile's head is out of range";
inline constexpr char kBadLength[] = "a tile's length does not match its contents";

/// A place in a tile's bit string. `bytes` and `end_bit` do not change.
struct TileCursor {
  const uint8_t* bytes;
  int end_bit;
  int bit = 0;

  bool has(int bits) const { return bits <= end_bit - bit; }
};

[[gnu::always_inline]] inline uint64_t load_word(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// At least 57 bits from `bit` on.
[[gnu::always_inline]] inline uint64_t peek57(const uint8_t* bytes, int bit) {
  return load_word(bytes + (bit >> 3)) >> (bit & 7);
}

/// 64 bits from `bit` on.
[[gnu::always_inline]] inline uint64_t peek64(const uint8_t* bytes, int bit) {
  const uint64_t above = bytes[(bit >> 3) + 8];
  return peek57(bytes, bit) | above << 1 << (63 - (bit & 7));
}

/// Requires count <= 57.
[[gnu::always_inline]] inline uint32_t take(TileCursor& cursor, int count) {
  const uint64_t bits = peek57(cursor.bytes, cursor.bit) & ((uint64_t{1} << count) - 1);
  cursor.bit += count;
  return static_cast<uint32_t>(bits);
}

/// The widths at the start of a tile.
struct TileHead {
  int dc_minimum[3];
  int dc_width[3];
  int end_width[3];
  int longest;  // bits of the largest magnitude
};

/// Also checks that the fields which the head announces lie inside the tile.
[[gnu::always_inline]] inline const char* take_head(TileHead& head, TileCursor& cursor,
                                                    const TileImage& image,
                                                    const TileShape& shape) {
  using namespace tile_layout;
  int64_t field_bits = 0;
  for (int c = 0; c < shape.components; ++c) {
    const TileComponent& component = image.component(c);
    const uint32_t minimum = take(cursor, component.dc_minimum_bits);
    head.dc_minimum[c] = component.dc_minimum + static_cast<int>(minimum);
    head.dc_width[c] = static_cast<int>(take(cursor, kDcWidthBits));
    head.end_width[c] = static_cast<int>(take(cursor, kEndWidthBits));
    if (head.dc_width[c] > kMaxDcWidth || head.end_width[c] > kMaxEndWidth) return kBadHead;
    field_bits += shape.component[c].count() * (head.dc_width[c] + head.end_width[c]);
  }
  head.longest = static_cast<int>(take(cursor, kLongestBits));
  return field_bits <= cursor.end_bit - cursor.bit ? nullptr : kBadLength;
}

/// From end-of-block positions and the mask bits to masks and places of values. Returns the number
/// of values, or -1 if the tile is too short for the masks.
[[gnu::always_inline]] inline int take_masks(TileSymbols& symbols, TileCursor& cursor, int blocks) {
  int mask_bits = 0;
  for (int i = 0; i < blocks; ++i) mask_bits += symbols.end[i] - (symbols.end[i] != 0);
  if (!cursor.has(mask_bits)) return -1;
  int bit = cursor.bit;
  unsigned values = 0;
  for (int i = 0; i < blocks; ++i) {
    const int is_coded = symbols.end[i] != 0;
    const int count = symbols.end[i] - is_coded;
    const uint64_t last = static_cast<uint64_t>(is_coded) << count;
    const uint64_t below = (uint64_t{1} << count) - 1;
    const uint64_t mask = ((peek64(cursor.bytes, bit) & below) | last) << 1;
    symbols.first[i] = static_cast<uint16_t>(values);
    symbols.mask[i] = mask;
    values += static_cast<unsigned>(__builtin_popcountll(mask));
    bit += count;
  }
  symbols.first[blocks] = static_cast<uint16_t>(values);
  cursor.bit = bit;
  return static_cast<int>(values);
}

/// Set bits among `count` from `bit` on.
[[gnu::always_inline]] inline int count_ones(const uint8_t* bytes, int bit, int count) {
  int ones = 0;
  for (; count > 64; count -= 64, bit += 64) ones += __builtin_popcountll(peek64(bytes, bit));
  if (count <= 0) return ones;
  return ones + __builtin_popcountll(peek64(bytes, bit) << (64 - count));
}

/// Completes the values of more than kShortBits bits, whose first bits are in symbols.values as
/// JPEG's additional bits would be. False if the tile is too short.
[[gnu::noinline]] inline bool take_extras(TileSymbols& symbols, TileCursor& cursor, int blocks,
                                          int values) {
  using namespace tile_layout;
  constexpr uint64_t kEightOrMore = 0x0808080808080808;  // lengths have four bits
  int block = 0;
  symbols.first_wide[0] = 0;
  for (int i = 0; i < values; ++i) {
    if (i % 8 == 0 && (load_word(symbols.length + i) & kEightOrMore) == 0) {
      i += 7;
      continue;
    }
    const int extra = symbols.length[i] - kShortBits;
    if (extra <= 0) continue;
    if (!cursor.has(extra)) return false;
    while (symbols.first[block + 1] <= i)
      symbols.first_wide[++block] = static_cast<uint16_t>(symbols.wide_count);
    uint64_t mask = symbols.mask[block];
    for (int skipped = symbols.first[block]; skipped < i; ++skipped) mask &= mask - 1;
    // A byte holds the sign and the first bits as a number of kShortBits bits.
    const int short_limit = (1 << kShortBits) - 1;
    const int start = symbols.values[i] > 0 ? symbols.values[i] : symbols.values[i] + short_limit;
    const int bits = start << extra | static_cast<int>(take(cursor, extra));
    const int value = symbols.values[i] > 0 ? bits : bits - (1 << (kShortBits + extra)) + 1;
    symbols.wide[symbols.wide_count++] = {static_cast<uint8_t>(__builtin_ctzll(mask)),
                                          static_cast<int16_t>(value)};
  }
  while (block < blocks) symbols.first_wide[++block] = static_cast<uint16_t>(symbols.wide_count);
  return true;
}

[[gnu::always_inline]] inline const char* check_end(const TileCursor& cursor) {
  return (cursor.bit + 7) / 8 * 8 == cursor.end_bit ? nullptr : kBadLength;
}

}  // namespace
}  // namespace penstock
