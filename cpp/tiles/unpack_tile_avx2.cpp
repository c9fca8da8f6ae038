// Unpacking a tile eight values at a time.
#include <immintrin.h>

#include "codec/expand_table.h"
#include "tiles/tile_reader.h"

namespace penstock::avx2 {
namespace {

using namespace tile_layout;

/// Eight fields of `width` (at most 16) bits each, as 32-bit numbers. Four begin in each lane.
[[gnu::always_inline]] inline __m256i peek_fields(const uint8_t* bytes, int bit, int width) {
  const int second = bit + 4 * width;
  const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
  const __m256i bits =
      _mm256_add_epi32(_mm256_mullo_epi32(numbers, _mm256_set1_epi32(width)),
                       _mm256_set_m128i(_mm_set1_epi32(second & 7), _mm_set1_epi32(bit & 7)));
  const __m256i first_bytes = _mm256_shuffle_epi8(
      _mm256_srli_epi32(bits, 3), _mm256_broadcastsi128_si256(_mm_setr_epi8(
                                      0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)));
  const __m256i index = _mm256_add_epi8(first_bytes, _mm256_set1_epi32(0x03020100));
  const __m256i halves =
      _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(bytes + (second >> 3)),
                          reinterpret_cast<const __m128i*>(bytes + (bit >> 3)));
  const __m256i words = _mm256_shuffle_epi8(halves, index);
  return _mm256_and_si256(_mm256_srlv_epi32(words, _mm256_and_si256(bits, _mm256_set1_epi32(7))),
                          _mm256_set1_epi32((1 << width) - 1));
}

/// The lower words of eight 32-bit numbers.
[[gnu::always_inline]] inline __m128i lower_words(__m256i numbers) {
  const __m256i low = _mm256_and_si256(numbers, _mm256_set1_epi32(0xFFFF));
  return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}

/// May write seven elements behind the last block.
void take_fields(TileSymbols& symbols, TileCursor& cursor, const TileHead& head,
                 const TileShape& shape) {
  for (int c = 0; c < shape.components; ++c) {
    const TileBlocks& blocks = shape.component[c];
    const int dc_width = head.dc_width[c], end_width = head.end_width[c];
    const int ends_bit = cursor.bit + blocks.count() * dc_width;
    const __m256i minimum = _mm256_set1_epi32(head.dc_minimum[c]);
    for (int i = 0; i < blocks.count(); i += 8) {
      const __m256i dc = peek_fields(cursor.bytes, cursor.bit + i * dc_width, dc_width);
      const __m256i end = peek_fields(cursor.bytes, ends_bit + i * end_width, end_width);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(symbols.dc + blocks.first + i),
                       lower_words(_mm256_add_epi32(dc, minimum)));
      const __m128i ends = lower_words(end);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(symbols.end + blocks.first + i),
                       _mm_packus_epi16(ends, ends));
    }
    cursor.bit = ends_bit + blocks.count() * end_width;
  }
}

[[gnu::always_inline]] inline __m128i load8(const uint8_t* bytes) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
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
  const int deepest = longest > 1 ? longest : 1;
  std::memset(deepest % 2 == 1 ? symbols.length : symbols.deeper, deepest, candidates[deepest]);
  for (int level = deepest - 1; level >= 1; --level) {
    uint8_t* target = level % 2 == 1 ? symbols.length : symbols.deeper;
    const uint8_t* longer = level % 2 == 1 ? symbols.deeper : symbols.length;
    const __m128i here = _mm_set1_epi8(static_cast<char>(level));
    const uint8_t* plane = cursor.bytes + (plane_bit[level] >> 3);
    for (int i = 0; i < candidates[level]; i += kPlaneStep, plane += kPlaneStep / 8) {
      uint64_t mask = plane_step(plane, plane_bit[level]);
      for (int j = i; j < i + kPlaneStep; j += 8, mask >>= 8) {
        const auto bits = static_cast<uint8_t>(mask);
        // What is marked is longer than the rest of this plane's values.
        const __m128i lengths =
            _mm_max_epu8(here, _mm_shuffle_epi8(load8(longer), load8(kExpand.at[bits])));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(target + j), lengths);
        longer += _mm_popcnt_u32(bits);
      }
    }
  }
  return true;
}

/// Eight fields of a word, given where each begins; bits above a field are not cleared.
[[gnu::always_inline]] inline __m128i split_word(uint64_t word, uint64_t begins) {
  const __m128i all_begins = _mm_cvtsi64_si128(static_cast<int64_t>(begins));
  const __m256i words = _mm256_set1_epi64x(static_cast<int64_t>(word));
  const __m256i low = _mm256_srlv_epi64(words, _mm256_cvtepu8_epi64(all_begins));
  const __m256i high =
      _mm256_srlv_epi64(words, _mm256_cvtepu8_epi64(_mm_srli_epi64(all_begins, 32)));
  // Fields i and i + 4 of a lane's two words, then those of the other lane.
  const __m256i index_low =
      _mm256_setr_epi8(0, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 8,
                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i index_high =
      _mm256_setr_epi8(-1, -1, -1, -1, 0, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                       -1, -1, 0, 8, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i fields =
      _mm256_or_si256(_mm256_shuffle_epi8(low, index_low), _mm256_shuffle_epi8(high, index_high));
  return _mm_or_si128(_mm256_castsi256_si128(fields), _mm256_extracti128_si256(fields, 1));
}

bool take_values(TileSymbols& symbols, TileCursor& cursor, int values) {
  constexpr uint64_t kEach = 0x0101010101010101;
  const __m128i all_ones = _mm_setr_epi8(0, 1, 3, 7, 15, 31, 63, 127, 0, 0, 0, 0, 0, 0, 0, 0);
  std::memset(symbols.length + values, 0, 8);
  for (int i = 0; i < values; i += 8) {
    if (!cursor.has(0)) return false;
    const __m128i widths = _mm_min_epu8(load8(symbols.length + i), _mm_set1_epi8(kShortBits));
    const auto each_width = static_cast<uint64_t>(_mm_cvtsi128_si64(widths));
    const uint64_t ends = each_width * kEach;
    const __m128i ones = _mm_shuffle_epi8(all_ones, widths);
    const __m128i fields = split_word(peek57(cursor.bytes, cursor.bit), ends - each_width);
    const __m128i bits = _mm_and_si128(fields, ones);
    const __m128i half = _mm_and_si128(_mm_srli_epi16(ones, 1), _mm_set1_epi8(0x3F));
    const __m128i is_positive = _mm_cmpgt_epi8(bits, half);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(symbols.values + i),
                     _mm_sub_epi8(bits, _mm_andnot_si128(is_positive, ones)));
    cursor.bit += static_cast<int>(ends >> 56);
  }
  return cursor.has(0);
}

/// A bit for each of 64 values from i on: whether it is wide.
uint64_t wide_marks(const TileSymbols& symbols, int i) {
  const auto marks_of_32 = [](const uint8_t* lengths) {
    const __m256i wide = _mm256_cmpgt_epi8(
        _mm256_load_si256(reinterpret_cast<const __m256i*>(lengths)), _mm256_set1_epi8(kShortBits));
    return uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(wide))};
  };
  return marks_of_32(symbols.length + i) | marks_of_32(symbols.length + i + 32) << 32;
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

void expand_block(int16_t* block, const TileSymbols& symbols, int number, int last_wanted) {
  scalar::expand_block(block, symbols, number, last_wanted);
}

}  // namespace penstock::avx2
