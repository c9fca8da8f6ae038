// The inverse DCT of four blocks at once, one in each 128-bit lane.
// Everything is internal to the file that includes it.
//
// A dot product of word pairs takes two rows at a time, side by side: (0, 4), (2, 6), (1, 7) and
// (5, 3). Blocks are brought into that form while they are loaded, and columns into the order in
// which the second pass finds its pairs, too: so neither pass has to sort anything.
#pragma once

#include "base/x86_vectors.h"
#include "codec/reconstruct.h"
#include "codec/reconstruct/islow.h"
#include "codec/reconstruct/paired_order.h"

namespace penstock {
namespace {

using namespace islow;
using V = Vector;

struct Words {
  uint16_t at[32];
};
struct Bytes {
  uint8_t at[64];
};

/// The pairs of one pass: of four columns (or rows) the eight values of each.
struct Pairs {
  V p04, p26, p17, p53;
};

/// Factors for a dot product with word pairs.
[[gnu::always_inline]] inline V factors(int first, int second) {
  return _mm512_set1_epi32(
      static_cast<int>((first & 0xFFFF) | static_cast<unsigned>(second) << 16));
}

/// One dimension: rounded 32-bit sums, not yet shifted. kWraps: 0 and 4 may be so large that their
/// sum and their difference wrap around at 16 bits.
template <int kShift, bool kWraps>
[[gnu::always_inline]] inline void transform(V (&sums)[8], const Pairs& x) {
  constexpr int kScale = 1 << kConstBits;
  const V rounding = _mm512_set1_epi32(1 << (kShift - 1));
  V sum04, difference04;
  if constexpr (kWraps) {
    const V p40 = _mm512_rol_epi32(x.p04, 16);
    sum04 = dot_and_add(rounding, _mm512_add_epi16(x.p04, p40), factors(kScale, 0));
    difference04 = dot_and_add(rounding, _mm512_sub_epi16(x.p04, p40), factors(kScale, 0));
  } else {
    sum04 = dot_and_add(rounding, x.p04, factors(kScale, kScale));
    difference04 = dot_and_add(rounding, x.p04, factors(kScale, -kScale));
  }
  const V even[4] = {
      dot_and_add(sum04, x.p26, factors(k0_541 + k0_765, k0_541)),
      dot_and_add(difference04, x.p26, factors(k0_541, k0_541 - k1_847)),
      dot_and_add(difference04, x.p26, factors(-k0_541, k1_847 - k0_541)),
      dot_and_add(sum04, x.p26, factors(-k0_541 - k0_765, -k0_541)),
  };
  const V sums15_73 = _mm512_add_epi16(x.p17, x.p53);
  const V z3 = _mm512_madd_epi16(sums15_73, factors(k1_175, k1_175 - k1_961));
  const V z4 = _mm512_madd_epi16(sums15_73, factors(k1_175 - k0_390, k1_175));
  const V odd[4] = {
      dot_and_add(z4, x.p17, factors(k1_501 - k0_899, -k0_899)),
      dot_and_add(z3, x.p53, factors(-k2_562, k3_072 - k2_562)),
      dot_and_add(z4, x.p53, factors(k2_053 - k2_562, -k2_562)),
      dot_and_add(z3, x.p17, factors(-k0_899, k0_298 - k0_899)),
  };
  for (int i = 0; i < 4; ++i) {
    sums[i] = _mm512_add_epi32(even[i], odd[i]);
    sums[7 - i] = _mm512_sub_epi32(even[i], odd[i]);
  }
}

/// The same where all but 0 to 3 are zero.
template <int kShift>
[[gnu::always_inline]] inline void transform_four(V (&sums)[8], V p20, V p31) {
  const V rounding = _mm512_set1_epi32(1 << (kShift - 1));
  const int scale = 1 << kConstBits;
  const V even[4] = {
      dot_and_add(rounding, p20, factors(k0_541 + k0_765, scale)),
      dot_and_add(rounding, p20, factors(k0_541, scale)),
      dot_and_add(rounding, p20, factors(-k0_541, scale)),
      dot_and_add(rounding, p20, factors(-k0_541 - k0_765, scale)),
  };
  const V odd[4] = {
      _mm512_madd_epi16(p31, factors(k1_175, k1_175 - k0_390 + k1_501 - k0_899)),
      _mm512_madd_epi16(p31, factors(k3_072 - k2_562 + k1_175 - k1_961, k1_175)),
      _mm512_madd_epi16(p31, factors(k1_175 - k2_562, k1_175 - k0_390)),
      _mm512_madd_epi16(p31, factors(k1_175 - k1_961, k1_175 - k0_899)),
  };
  for (int i = 0; i < 4; ++i) {
    sums[i] = _mm512_add_epi32(even[i], odd[i]);
    sums[7 - i] = _mm512_sub_epi32(even[i], odd[i]);
  }
}

/// Of two packed rows each in a and b, pairs `first` and first + 1: of both rows the one, then of
/// both the other.
constexpr Words two_pairs(int first) {
  Words index{};
  for (int lane = 0; lane < 4; ++lane)
    for (int i = 0; i < 8; ++i) {
      const int pair = first + i / 4, row = i / 2 % 2, source = i % 2;
      index.at[8 * lane + i] = static_cast<uint16_t>(32 * source + 8 * lane + 4 * row + pair);
    }
  return index;
}

alignas(64) constexpr Words kTwoPairs[2] = {two_pairs(0), two_pairs(2)};

/// Rows a and b of the column pass, saturated to words: 4 columns of a, then 4 of b.
[[gnu::always_inline]] inline V pack_rows(V a, V b) {
  return _mm512_packs_epi32(_mm512_srai_epi32(a, kColumnShift), _mm512_srai_epi32(b, kColumnShift));
}

/// From four rows of the column pass, whose columns lie in kLowColumns and kHighColumns, to the
/// pairs of the row pass.
[[gnu::always_inline]] inline Pairs pair_columns(const V* low, const V* high) {
  const V low01 = pack_rows(low[0], low[1]), low23 = pack_rows(low[2], low[3]);
  const V high01 = pack_rows(high[0], high[1]), high23 = pack_rows(high[2], high[3]);
  const V first = _mm512_load_si512(&kTwoPairs[0]), second = _mm512_load_si512(&kTwoPairs[1]);
  const V p04_17_of_01 = _mm512_permutex2var_epi16(low01, first, high01);
  const V p04_17_of_23 = _mm512_permutex2var_epi16(low23, first, high23);
  const V p26_53_of_01 = _mm512_permutex2var_epi16(low01, second, high01);
  const V p26_53_of_23 = _mm512_permutex2var_epi16(low23, second, high23);
  return {_mm512_unpacklo_epi64(p04_17_of_01, p04_17_of_23),
          _mm512_unpacklo_epi64(p26_53_of_01, p26_53_of_23),
          _mm512_unpackhi_epi64(p04_17_of_01, p04_17_of_23),
          _mm512_unpackhi_epi64(p26_53_of_01, p26_53_of_23)};
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

alignas(64) constexpr Words kUpperWords = upper_words();
alignas(64) constexpr Bytes kRows[2] = {four_rows(0), four_rows(4)};

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

/// Whether the passes do with these dequantised values of rows 0 and 4 (or 0 and 2) what
/// libjpeg-turbo does: see kRow0Limit; nor do their sums wrap around.
[[gnu::always_inline]] inline bool is_in_range(V pairs) {
  const V from_limit = _mm512_add_epi16(pairs, _mm512_set1_epi16(kRow0Limit));
  return _mm512_test_epi16_mask(from_limit, _mm512_set1_epi16(-2 * kRow0Limit)) == 0;
}

/// Transforms dequantised pairs of the columns in kLowColumns and kHighColumns.
/// Requires that p04 of both is_in_range.
[[gnu::always_inline]] inline void transform_pairs(uint8_t* plane, ptrdiff_t stride,
                                                   const Pairs& low, const Pairs& high, V offset) {
  V first[8], second[8];
  transform<kColumnShift, false>(first, low);
  transform<kColumnShift, false>(second, high);
  const Pairs top = pair_columns(first, second);
  const Pairs bottom = pair_columns(first + 4, second + 4);
  transform<kRowShift, true>(first, top);
  transform<kRowShift, true>(second, bottom);
  store_columns(plane, stride, first, second, offset);
}

/// The same if only the first four columns of the first four rows are not zero; pairs (2, 0) and
/// (3, 1) of the columns in kFourColumns. Requires that p20 is_in_range.
[[gnu::always_inline]] inline void transform_four_pairs(uint8_t* plane, ptrdiff_t stride, V p20,
                                                        V p31, V offset) {
  V low[8], high[8];
  transform_four<kColumnShift>(low, p20, p31);
  const V rows01 = pack_rows(low[0], low[1]), rows23 = pack_rows(low[2], low[3]);
  const V rows45 = pack_rows(low[4], low[5]), rows67 = pack_rows(low[6], low[7]);
  const auto every_second = [](V a, V b) {
    return as_integers(_mm512_shuffle_ps(as_floats(a), as_floats(b), 0x88));
  };
  const auto the_others = [](V a, V b) {
    return as_integers(_mm512_shuffle_ps(as_floats(a), as_floats(b), 0xDD));
  };
  transform_four<kRowShift>(low, every_second(rows01, rows23), the_others(rows01, rows23));
  transform_four<kRowShift>(high, every_second(rows45, rows67), the_others(rows45, rows67));
  store_columns(plane, stride, low, high, offset);
}

}  // namespace
}  // namespace penstock
