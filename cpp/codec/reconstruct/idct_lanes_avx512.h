// The inverse DCT of four blocks at once, one in each 128-bit lane. For files compiled with AVX-512
// only; everything is internal to the file that includes it.
#pragma once

#include <immintrin.h>

#include "codec/reconstruct.h"
#include "codec/reconstruct/islow.h"

namespace penstock {
namespace {

using namespace islow;
using V = __m512i;

/// Factors for a dot product with word pairs.
[[gnu::always_inline]] inline V factors(int first, int second) {
  return _mm512_set1_epi32(
      static_cast<int>((first & 0xFFFF) | static_cast<unsigned>(second) << 16));
}

template <bool kHigh>
[[gnu::always_inline]] inline V interleave(V a, V b) {
  return kHigh ? _mm512_unpackhi_epi16(a, b) : _mm512_unpacklo_epi16(a, b);
}

/// One dimension for words 0-3 (or 4-7) of every lane: rounded 32-bit sums, not yet shifted.
template <int kShift, bool kHigh>
[[gnu::always_inline]] inline void transform_half(V (&sums)[8], const V (&x)[8]) {
  // 8 * (rounding / 8), because the rounding of the row pass does not fit a 16-bit factor.
  const V eights = _mm512_set1_epi16(8);
  const V scale = factors(1 << kConstBits, (1 << (kShift - 1)) / 8);
  const V sum04 = _mm512_madd_epi16(interleave<kHigh>(_mm512_add_epi16(x[0], x[4]), eights), scale);
  const V difference04 =
      _mm512_madd_epi16(interleave<kHigh>(_mm512_sub_epi16(x[0], x[4]), eights), scale);
  const V x26 = interleave<kHigh>(x[2], x[6]);
  const V even[4] = {
      _mm512_dpwssd_epi32(sum04, x26, factors(k0_541 + k0_765, k0_541)),
      _mm512_dpwssd_epi32(difference04, x26, factors(k0_541, k0_541 - k1_847)),
      _mm512_dpwssd_epi32(difference04, x26, factors(-k0_541, k1_847 - k0_541)),
      _mm512_dpwssd_epi32(sum04, x26, factors(-k0_541 - k0_765, -k0_541)),
  };

  const V sums37_15 = interleave<kHigh>(_mm512_add_epi16(x[3], x[7]), _mm512_add_epi16(x[1], x[5]));
  const V z3 = _mm512_madd_epi16(sums37_15, factors(k1_175 - k1_961, k1_175));
  const V z4 = _mm512_madd_epi16(sums37_15, factors(k1_175, k1_175 - k0_390));
  const V x71 = interleave<kHigh>(x[7], x[1]);
  const V x53 = interleave<kHigh>(x[5], x[3]);
  const V odd[4] = {
      _mm512_dpwssd_epi32(z4, x71, factors(-k0_899, k1_501 - k0_899)),
      _mm512_dpwssd_epi32(z3, x53, factors(-k2_562, k3_072 - k2_562)),
      _mm512_dpwssd_epi32(z4, x53, factors(k2_053 - k2_562, -k2_562)),
      _mm512_dpwssd_epi32(z3, x71, factors(k0_298 - k0_899, -k0_899)),
  };

  for (int i = 0; i < 4; ++i) {
    sums[i] = _mm512_add_epi32(even[i], odd[i]);
    sums[7 - i] = _mm512_sub_epi32(even[i], odd[i]);
  }
}

/// transform_half for x[4] to x[7] that are zero.
template <int kShift, bool kHigh>
[[gnu::always_inline]] inline void transform_half_of_four(V (&sums)[8], const V (&x)[8]) {
  const V rounding = _mm512_set1_epi32(1 << (kShift - 1));
  const int scale = 1 << kConstBits;
  const V x20 = interleave<kHigh>(x[2], x[0]);
  const V even[4] = {
      _mm512_dpwssd_epi32(rounding, x20, factors(k0_541 + k0_765, scale)),
      _mm512_dpwssd_epi32(rounding, x20, factors(k0_541, scale)),
      _mm512_dpwssd_epi32(rounding, x20, factors(-k0_541, scale)),
      _mm512_dpwssd_epi32(rounding, x20, factors(-k0_541 - k0_765, scale)),
  };
  const V x31 = interleave<kHigh>(x[3], x[1]);
  const V odd[4] = {
      _mm512_madd_epi16(x31, factors(k1_175, k1_175 - k0_390 + k1_501 - k0_899)),
      _mm512_madd_epi16(x31, factors(k3_072 - k2_562 + k1_175 - k1_961, k1_175)),
      _mm512_madd_epi16(x31, factors(k1_175 - k2_562, k1_175 - k0_390)),
      _mm512_madd_epi16(x31, factors(k1_175 - k1_961, k1_175 - k0_899)),
  };
  for (int i = 0; i < 4; ++i) {
    sums[i] = _mm512_add_epi32(even[i], odd[i]);
    sums[7 - i] = _mm512_sub_epi32(even[i], odd[i]);
  }
}

struct Words {
  uint16_t at[32];
};
struct Bytes {
  uint8_t at[64];
};

/// Words 0, 2, 4, 6 (or 1, 3, 5, 7) of a lane of a, with those of b in between.
constexpr Words every_second_word(int first) {
  Words index{};
  for (int i = 0; i < 16; ++i) {
    index.at[2 * i] = static_cast<uint16_t>(2 * i + first);
    index.at[2 * i + 1] = static_cast<uint16_t>(32 + 2 * i + first);
  }
  return index;
}

/// The upper words of a lane's four sums in a, then of those in b.
constexpr Words upper_words() {
  Words index{};
  for (int lane = 0; lane < 4; ++lane)
    for (int i = 0; i < 4; ++i) {
      index.at[8 * lane + i] = static_cast<uint16_t>(8 * lane + 2 * i + 1);
      index.at[8 * lane + 4 + i] = static_cast<uint16_t>(32 + 8 * lane + 2 * i + 1);
    }
  return index;
}

/// From columns (0, 1) in a and (2, 3) in b, 8 bytes each in every lane: four columns of rows
/// [first, first + 4), row by row and block by block.
constexpr Bytes four_rows(int first) {
  Bytes index{};
  for (int i = 0; i < 64; ++i) {
    const int row = i / 16, block = i / 4 % 4, column = i % 4;
    index.at[i] =
        static_cast<uint8_t>(64 * (column / 2) + 16 * block + 8 * (column % 2) + first + row);
  }
  return index;
}

alignas(64) constexpr Words kEvenWords = every_second_word(0);
alignas(64) constexpr Words kOddWords = every_second_word(1);
alignas(64) constexpr Words kUpperWords = upper_words();
alignas(64) constexpr Bytes kRows[2] = {four_rows(0), four_rows(4)};

/// Rows a and b of the column pass, saturated to words: 4 columns of a, then 4 of b.
[[gnu::always_inline]] inline V pack_rows(V a, V b) {
  return _mm512_packs_epi32(_mm512_srai_epi32(a, kColumnShift), _mm512_srai_epi32(b, kColumnShift));
}

template <int kWhich>
[[gnu::always_inline]] inline V shuffle_pairs(V a, V b) {
  return _mm512_castps_si512(
      _mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), kWhich));
}

/// Four columns of words, each with rows 0 to 7, from sums that hold a row each.
[[gnu::always_inline]] inline void transpose_half(V* columns, const V (&sums)[8]) {
  const V rows02 = pack_rows(sums[0], sums[2]), rows46 = pack_rows(sums[4], sums[6]);
  const V rows13 = pack_rows(sums[1], sums[3]), rows57 = pack_rows(sums[5], sums[7]);
  const V even_rows01 = shuffle_pairs<0x88>(rows02, rows46);  // columns 0 and 1
  const V even_rows23 = shuffle_pairs<0xDD>(rows02, rows46);
  const V odd_rows01 = shuffle_pairs<0x88>(rows13, rows57);
  const V odd_rows23 = shuffle_pairs<0xDD>(rows13, rows57);
  const V even = _mm512_load_si512(&kEvenWords), odd = _mm512_load_si512(&kOddWords);
  columns[0] = _mm512_permutex2var_epi16(even_rows01, even, odd_rows01);
  columns[1] = _mm512_permutex2var_epi16(even_rows01, odd, odd_rows01);
  columns[2] = _mm512_permutex2var_epi16(even_rows23, even, odd_rows23);
  columns[3] = _mm512_permutex2var_epi16(even_rows23, odd, odd_rows23);
}

[[gnu::always_inline]] inline void store_two_rows(uint8_t* plane, ptrdiff_t stride, V rows) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(plane), _mm512_castsi512_si256(rows));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(plane + stride),
                      _mm512_extracti64x4_epi64(rows, 1));
}

/// Sums of the row pass, each a column, to eight rows of 32 samples.
[[gnu::always_inline]] inline void store_columns(uint8_t* plane, ptrdiff_t stride,
                                                 const V (&low)[8], const V (&high)[8], V offset) {
  // Shifting by 16 and then by the rest needs no saturation: 14 bits are left.
  const V upper = _mm512_load_si512(&kUpperWords);
  V pair[4];
  for (int i = 0; i < 4; ++i) {
    const V first = _mm512_permutex2var_epi16(low[2 * i], upper, high[2 * i]);
    const V second = _mm512_permutex2var_epi16(low[2 * i + 1], upper, high[2 * i + 1]);
    pair[i] = _mm512_xor_si512(_mm512_packs_epi16(_mm512_srai_epi16(first, kRowShift - 16),
                                                  _mm512_srai_epi16(second, kRowShift - 16)),
                               offset);
  }
  const V rows01 = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const V rows23 = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  for (int half = 0; half < 2; ++half) {
    const V index = _mm512_load_si512(&kRows[half]);
    const V left = _mm512_permutex2var_epi8(pair[0], index, pair[1]);
    const V right = _mm512_permutex2var_epi8(pair[2], index, pair[3]);
    uint8_t* rows = plane + 4 * half * stride;
    store_two_rows(rows, stride, _mm512_permutex2var_epi32(left, rows01, right));
    store_two_rows(rows + 2 * stride, stride, _mm512_permutex2var_epi32(left, rows23, right));
  }
}

/// Rows 0 to 3 (or 4 to 7) of four blocks: from a block each to a row each.
[[gnu::always_inline]] inline void gather_rows(V* rows, const V (&blocks)[4]) {
  const V top01 = _mm512_shuffle_i32x4(blocks[0], blocks[1], 0x44);
  const V top23 = _mm512_shuffle_i32x4(blocks[2], blocks[3], 0x44);
  const V bottom01 = _mm512_shuffle_i32x4(blocks[0], blocks[1], 0xEE);
  const V bottom23 = _mm512_shuffle_i32x4(blocks[2], blocks[3], 0xEE);
  rows[0] = _mm512_shuffle_i32x4(top01, top23, 0x88);
  rows[1] = _mm512_shuffle_i32x4(top01, top23, 0xDD);
  rows[2] = _mm512_shuffle_i32x4(bottom01, bottom23, 0x88);
  rows[3] = _mm512_shuffle_i32x4(bottom01, bottom23, 0xDD);
}

/// Whether transform_rows does with this dequantised row what libjpeg-turbo does.
[[gnu::always_inline]] inline bool is_in_range(V row0) {
  const V from_limit = _mm512_add_epi16(row0, _mm512_set1_epi16(kRow0Limit));
  return _mm512_test_epi16_mask(from_limit, _mm512_set1_epi16(-2 * kRow0Limit)) == 0;
}

/// Transforms dequantised rows. Requires that the first is_in_range.
[[gnu::always_inline]] inline void transform_rows(uint8_t* plane, ptrdiff_t stride, V (&x)[8],
                                                  V offset) {
  V low[8], high[8];
  transform_half<kColumnShift, false>(low, x);
  transform_half<kColumnShift, true>(high, x);
  transpose_half(x, low);
  transpose_half(x + 4, high);
  transform_half<kRowShift, false>(low, x);
  transform_half<kRowShift, true>(high, x);
  store_columns(plane, stride, low, high, offset);
}

/// The same if only the first four columns of the first four rows are not zero.
[[gnu::always_inline]] inline void transform_four_rows(uint8_t* plane, ptrdiff_t stride, V (&x)[8],
                                                       V offset) {
  V low[8], high[8];
  transform_half_of_four<kColumnShift, false>(low, x);
  transpose_half(x, low);
  transform_half_of_four<kRowShift, false>(low, x);
  transform_half_of_four<kRowShift, true>(high, x);
  store_columns(plane, stride, low, high, offset);
}

}  // namespace
}  // namespace penstock
