// Unpacking a tile 64 values at a time.
#include <immintrin.h>

#include "codec/zigzag.h"
#include "tiles/tile_reader.h"

namespace penstock::avx512 {
namespace {

using namespace tile_layout;
using V = __m512i;

/// The zigzag position of each natural place.
struct Positions {
  uint8_t at[64];
};

constexpr Positions zigzag_positions() {
  Positions positions{};
  for (int i = 0; i < 64; ++i) positions.at[kNaturalOrder[i]] = static_cast<uint8_t>(i);
  return positions;
}

alignas(64) constexpr Positions kZigzagPositions = zigzag_positions();

/// Sixteen fields of `width` (at most 16) bits each, as 32-bit numbers.
[[gnu::always_inline]] inline V peek_fields(const uint8_t* bytes, int bit, int width) {
  const V numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const V bits = _mm512_add_epi32(_mm512_mullo_epi32(numbers, _mm512_set1_epi32(width)),
                                  _mm512_set1_epi32(bit & 7));
  const V first_bytes = _mm512_shuffle_epi8(
      _mm512_srli_epi32(bits, 3),
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)));
  const V index = _mm512_add_epi8(first_bytes, _mm512_set1_epi32(0x03020100));
  const V words = _mm512_permutexvar_epi8(index, _mm512_loadu_si512(bytes + (bit >> 3)));
  return _mm512_and_si512(_mm512_srlv_epi32(words, _mm512_and_si512(bits, _mm512_set1_epi32(7))),
                          _mm512_set1_epi32((1 << width) - 1));
}

void take_fields(TileSymbols& symbols, TileCursor& cursor, const TileHead& head,
                 const TileShape& shape) {
  for (int c = 0; c < shape.components; ++c) {
    const TileBlocks& blocks = shape.component[c];
    const int dc_width = head.dc_width[c], end_width = head.end_width[c];
    const int ends_bit = cursor.bit + blocks.count() * dc_width;
    const V minimum = _mm512_set1_epi32(head.dc_minimum[c]);
    for (int i = 0; i < blocks.count(); i += 16) {
      const V dc = peek_fields(cursor.bytes, cursor.bit + i * dc_width, dc_width);
      const V end = peek_fields(cursor.bytes, ends_bit + i * end_width, end_width);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(symbols.dc + blocks.first + i),
                          _mm512_cvtepi32_epi16(_mm512_add_epi32(dc, minimum)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(symbols.end + blocks.first + i),
                       _mm512_cvtepi32_epi8(end));
    }
    cursor.bit = ends_bit + blocks.count() * end_width;
  }
}

/// The same byte for a whole 64-bit word: its first.
[[gnu::always_inline]] inline V repeat_first_byte(V words) {
  return _mm512_shuffle_epi8(
      words, _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8)));
}

/// The sum of each 64-bit word and all before it.
[[gnu::always_inline]] inline V sums_up_to(V words) {
  const V zero = _mm512_setzero_si512();
  words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 7));
  words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 6));
  return _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 4));
}

[[gnu::always_inline]] inline int last_word(V words) {
  return static_cast<int>(_mm_extract_epi64(_mm512_extracti64x2_epi64(words, 3), 1));
}

/// As take_masks_one_by_one, for eight blocks at a time: all their bits lie in 64 bytes and a few.
int take_masks(TileSymbols& symbols, TileCursor& cursor, int blocks) {
  constexpr int kMore = 16;  // bytes behind the 64
  const V one = _mm512_set1_epi64(1), seven = _mm512_set1_epi64(7);
  const V byte_numbers = _mm512_set1_epi64(0x0706050403020100);
  // One bit early: position 0, which is not coded, takes the place of whatever lies there.
  int bit = cursor.bit - 1, values = 0;
  for (int i = 0; i < blocks; i += 8) {
    if (bit >= cursor.end_bit) return -1;
    const uint64_t used = ~uint64_t{0} >> (blocks - i < 8 ? 64 - 8 * (blocks - i) : 0);
    const uint64_t ends = load_word(symbols.end + i) & used;
    const V end = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(static_cast<int64_t>(ends)));
    const V lengths = _mm512_subs_epu16(end, one);
    const V bits_up_to = sums_up_to(lengths);
    const V begins =
        _mm512_add_epi64(_mm512_sub_epi64(bits_up_to, lengths), _mm512_set1_epi64(bit & 7));

    // Behind the tile there may be no more bytes than the first register takes.
    const uint8_t* bytes = cursor.bytes + (bit >> 3);
    const int rest = cursor.end_bit / 8 - (bit >> 3) - 64;
    const auto there = rest >= kMore ? (1u << kMore) - 1 : rest <= 0 ? 0u : (1u << rest) - 1;
    const V source = _mm512_loadu_si512(bytes);
    const V more =
        _mm512_castsi128_si512(_mm_maskz_loadu_epi8(static_cast<__mmask16>(there), bytes + 64));
    const V index = _mm512_add_epi8(repeat_first_byte(_mm512_srli_epi64(begins, 3)), byte_numbers);
    const V low = _mm512_permutex2var_epi8(source, index, more);
    const V high =
        _mm512_permutex2var_epi8(source, _mm512_add_epi8(index, _mm512_set1_epi8(8)), more);
    const V bits = _mm512_shrdv_epi64(low, high, _mm512_and_si512(begins, seven));

    const V last = _mm512_sllv_epi64(one, end);
    const V mask = _mm512_andnot_si512(
        one, _mm512_or_si512(_mm512_and_si512(bits, _mm512_sub_epi64(last, one)), last));
    _mm512_storeu_si512(symbols.mask + i, mask);
    const V counts = _mm512_popcnt_epi64(mask);
    const V values_up_to = sums_up_to(counts);
    const V first =
        _mm512_add_epi64(_mm512_sub_epi64(values_up_to, counts), _mm512_set1_epi64(values));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(symbols.first + i), _mm512_cvtepi64_epi16(first));
    values += last_word(values_up_to);
    bit += last_word(bits_up_to);
  }
  symbols.first[blocks] = static_cast<uint16_t>(values);
  cursor.bit = bit + 1;
  return cursor.has(0) ? values : -1;
}

/// Bit lengths from the deepest plane, which has the longest values, up to the first.
bool take_lengths(TileSymbols& symbols, TileCursor& cursor, int values, int longest) {
  int plane_bit[kMaxValueBits + 1];
  int candidates[kMaxValueBits + 1];
  candidates[1] = values;
  for (int level = 1; level < longest; ++level) {
    if (!cursor.has(candidates[level])) return false;
    plane_bit[level] = cursor.bit;
    candidates[level + 1] = count_ones(cursor.bytes, cursor.bit, candidates[level]);
    cursor.bit += candidates[level];
  }
  // Small planes, as the deep ones are, stay in a register.
  V lengths = _mm512_set1_epi8(static_cast<char>(longest > 1 ? longest : 1));
  int level = longest - 1;
  for (; level >= 1 && candidates[level] <= kPlaneStep; --level) {
    lengths = _mm512_mask_expand_epi8(_mm512_set1_epi8(static_cast<char>(level)),
                                      peek57(cursor.bytes, plane_bit[level]), lengths);
  }
  uint8_t* target = level >= 1 && level % 2 == 1 ? symbols.deeper : symbols.length;
  const int known = level >= 1 ? candidates[level + 1] : values;
  for (int i = 0; i < known; i += 64) _mm512_storeu_si512(target + i, lengths);
  for (; level >= 1; --level) {
    const uint8_t* longer = target;
    target = level % 2 == 1 ? symbols.length : symbols.deeper;
    const V here = _mm512_set1_epi8(static_cast<char>(level));
    const uint8_t* plane = cursor.bytes + (plane_bit[level] >> 3);
    for (int i = 0; i < candidates[level]; i += kPlaneStep, plane += kPlaneStep / 8) {
      const uint64_t mask = plane_step(plane, plane_bit[level]);
      _mm512_storeu_si512(target + i,
                          _mm512_mask_expand_epi8(here, mask, _mm512_loadu_si512(longer)));
      longer += __builtin_popcountll(mask);
    }
  }
  return true;
}

bool take_values(TileSymbols& symbols, TileCursor& cursor, int values) {
  const V byte_numbers = _mm512_set1_epi64(0x0706050403020100);
  const V all_ones =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 3, 7, 15, 31, 63, 127, 0, 0, 0, 0, 0, 0, 0, 0));
  for (int i = 0; i < values; i += 64) {
    if (!cursor.has(0)) return false;
    const __mmask64 used = ~uint64_t{0} >> (values - i < 64 ? 64 - (values - i) : 0);
    const V widths = _mm512_min_epu8(_mm512_maskz_loadu_epi8(used, symbols.length + i),
                                     _mm512_set1_epi8(kShortBits));
    // Where each field begins: sums within words of eight values, then those of the words before.
    V ends = _mm512_add_epi8(widths, _mm512_slli_epi64(widths, 8));
    ends = _mm512_add_epi8(ends, _mm512_slli_epi64(ends, 16));
    ends = _mm512_add_epi8(ends, _mm512_slli_epi64(ends, 32));
    const V word_bits = _mm512_srli_epi64(ends, 56);
    const V word_ends = sums_up_to(word_bits);
    const V word_begins =
        _mm512_add_epi64(_mm512_sub_epi64(word_ends, word_bits), _mm512_set1_epi64(cursor.bit & 7));

    const V source = _mm512_loadu_si512(cursor.bytes + (cursor.bit >> 3));
    const V source_bytes =
        _mm512_add_epi8(repeat_first_byte(_mm512_srli_epi64(word_begins, 3)), byte_numbers);
    const V words = _mm512_permutexvar_epi8(source_bytes, source);
    const V shifts =
        _mm512_add_epi8(_mm512_sub_epi8(ends, widths),
                        repeat_first_byte(_mm512_and_si512(word_begins, _mm512_set1_epi64(7))));
    const V ones = _mm512_shuffle_epi8(all_ones, widths);
    const V bits = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, words), ones);
    const V half = _mm512_and_si512(_mm512_srli_epi16(ones, 1), _mm512_set1_epi8(0x3F));
    const __mmask64 is_negative = _mm512_cmple_epi8_mask(bits, half);
    _mm512_storeu_si512(symbols.values + i, _mm512_mask_sub_epi8(bits, is_negative, bits, ones));
    cursor.bit += last_word(word_ends);
  }
  return cursor.has(0);
}

/// A bit for each of 64 values from i on: whether it is wide.
uint64_t wide_marks(const TileSymbols& symbols, int i) {
  return _mm512_cmpgt_epi8_mask(_mm512_load_si512(symbols.length + i),
                                _mm512_set1_epi8(kShortBits));
}

}  // namespace

const char* unpack_tile(TileSymbols& symbols, const uint8_t* bytes, int size,
                        const TileImage& image, const TileShape& shape) {
  return unpack_by_stages<take_fields, take_masks, take_lengths, take_values, wide_marks>(
      symbols, bytes, size, image, shape);
}

const char* unpack_dc(TileSymbols& symbols, const uint8_t* bytes, int size, const TileImage& image,
                      const TileShape& shape) {
  return unpack_dc_by_stages<take_fields>(symbols, bytes, size, image, shape);
}

void expand_block(int16_t* block, const TileSymbols& symbols, int number, int last_wanted) {
  if (symbols.has_wide(number, number + 1))
    return scalar::expand_block(block, symbols, number, last_wanted);
  const uint64_t wanted = symbols.mask[number] & (~uint64_t{0} >> (63 - last_wanted));
  const V values = _mm512_loadu_si512(symbols.values + symbols.first[number]);
  const V bytes = _mm512_permutexvar_epi8(_mm512_load_si512(&kZigzagPositions),
                                          _mm512_maskz_expand_epi8(wanted, values));
  _mm512_storeu_si512(block, _mm512_cvtepi8_epi16(_mm512_castsi512_si256(bytes)));
  _mm512_storeu_si512(block + 32, _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(bytes, 1)));
  block[0] = symbols.dc[number];
}

}  // namespace penstock::avx512
