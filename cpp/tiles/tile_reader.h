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
[[gnu::always_inline]] inline int take_masks_one_by_one(TileSymbols& symbols, TileCursor& cursor,
                                                        int blocks) {
  // One bit early: position 0, which is not coded, takes the place of whatever lies there.
  int bit = cursor.bit - 1;
  unsigned values = 0;
  for (int i = 0; i < blocks; ++i) {
    if (bit >= cursor.end_bit) return -1;
    const int end = symbols.end[i];
    const uint64_t bits = end <= 57 ? peek57(cursor.bytes, bit) : peek64(cursor.bytes, bit);
    const uint64_t last = uint64_t{1} << end;
    const uint64_t mask = ((bits & (last - 1)) | last) & ~uint64_t{1};
    symbols.first[i] = static_cast<uint16_t>(values);
    symbols.mask[i] = mask;
    values += static_cast<unsigned>(__builtin_popcountll(mask));
    bit += end - (end != 0);
  }
  symbols.first[blocks] = static_cast<uint16_t>(values);
  cursor.bit = bit + 1;
  return cursor.has(0) ? static_cast<int>(values) : -1;
}

/// Planes are read in steps of whole bytes, so that one shift fits them all.
inline constexpr int kPlaneStep = 56;

/// The next kPlaneStep bits of a plane that began at `first_bit` of some byte.
[[gnu::always_inline]] inline uint64_t plane_step(const uint8_t* bytes, int first_bit) {
  return load_word(bytes) >> (first_bit & 7) & ((uint64_t{1} << kPlaneStep) - 1);
}

/// Set bits among `count` from `bit` on.
[[gnu::always_inline]] inline int count_ones(const uint8_t* bytes, int bit, int count) {
  const uint8_t* next = bytes + (bit >> 3);
  uint64_t word = load_word(next) & ~uint64_t{0} << (bit & 7);
  int ones = 0, left = count + (bit & 7);
  for (; left >= 64; left -= 64) {
    ones += __builtin_popcountll(word);
    word = load_word(next += 8);
  }
  return ones + __builtin_popcountll(word & ((uint64_t{1} << left) - 1));
}

/// Completes value `i`, which has more than kShortBits bits. False if the tile is too short.
[[gnu::always_inline]] inline bool take_extra(TileSymbols& symbols, TileCursor& cursor, int i) {
  using namespace tile_layout;
  const int extra = symbols.length[i] - kShortBits;
  if (!cursor.has(extra)) return false;
  // So far the first bits were taken for a number of kShortBits bits.
  const int is_negative = symbols.values[i] <= 0;
  const int start = symbols.values[i] + is_negative * ((1 << kShortBits) - 1);
  const int bits = start << extra | static_cast<int>(take(cursor, extra));
  const int value = bits - is_negative * ((1 << (kShortBits + extra)) - 1);
  symbols.values[i] = static_cast<int8_t>(value);
  symbols.high[i] = static_cast<int8_t>(value >> 8);
  return true;
}

/// Completes all values of more than kShortBits bits. marks(i) has a bit for each of the next 64
/// values from number i on; those behind the last value do not count.
template <class Marks>
[[gnu::always_inline]] inline bool take_extras(TileSymbols& symbols, TileCursor& cursor, int values,
                                               const Marks& marks) {
  for (int i = 0; i < values; ++i) symbols.high[i] = static_cast<int8_t>(symbols.values[i] >> 7);
  for (int first = 0; first < values; first += 64) {
    const int left = values - first;
    const uint64_t marked = marks(first) & (left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0});
    symbols.wide[first / 64] = marked;
    for (uint64_t rest = marked; rest != 0; rest &= rest - 1)
      if (!take_extra(symbols, cursor, first + __builtin_ctzll(rest))) return false;
  }
  return true;
}

[[gnu::always_inline]] inline const char* check_end(const TileCursor& cursor) {
  return (cursor.bit + 7) / 8 * 8 == cursor.end_bit ? nullptr : kBadLength;
}

/// unpack_dc, likewise.
template <auto take_fields>
const char* unpack_dc_by_stages(TileSymbols& symbols, const uint8_t* bytes, int size,
                                const TileImage& image, const TileShape& shape) {
  TileCursor cursor{bytes, 8 * size};
  TileHead head;
  if (const char* problem = take_head(head, cursor, image, shape)) return problem;
  take_fields(symbols, cursor, head, shape);
  return nullptr;
}

/// unpack_tile, of which each instruction set has some stages of its own; `wide_marks` gives the
/// marks of 64 values at once.
template <auto take_fields, auto take_masks, auto take_lengths, auto take_values, auto wide_marks>
const char* unpack_by_stages(TileSymbols& symbols, const uint8_t* bytes, int size,
                             const TileImage& image, const TileShape& shape) {
  TileCursor cursor{bytes, 8 * size};
  TileHead head;
  if (const char* problem = take_head(head, cursor, image, shape)) return problem;
  take_fields(symbols, cursor, head, shape);
  const int values = take_masks(symbols, cursor, shape.blocks);
  if (values < 0) return kBadLength;
  if (!take_lengths(symbols, cursor, values, head.longest)) return kBadLength;
  if (!take_values(symbols, cursor, values)) return kBadLength;
  symbols.any_wide = head.longest > tile_layout::kShortBits;
  const auto marks = [&symbols](int i) { return wide_marks(symbols, i); };
  if (symbols.any_wide && !take_extras(symbols, cursor, values, marks)) return kBadLength;
  return check_end(cursor);
}

}  // namespace
}  // namespace penstock
