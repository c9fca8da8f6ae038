// The inverse DCT of two blocks at once, one in each 128-bit lane.
// Everything is internal to the file that includes it.
#pragma once

#include "base/x86_vectors.h"
#include "codec/reconstruct.h"
#include "codec/reconstruct/islow.h"

namespace penstock {
namespace {

using namespace islow;
using V = Vector;

/// Factors for a dot product with word pairs.
[[gnu::always_inline]] inline V factors(int first, int second) {
  return _mm256_set1_epi32(
      static_cast<int>((first & 0xFFFF) | static_cast<unsigned>(second) << 16));
}

template <bool kHigh>
[[gnu::always_inline]] inline V interleave(V a, V b) {
  return kHigh ? _mm256_unpackhi_epi16(a, b) : _mm256_unpacklo_epi16(a, b);
}

/// One dimension for words 0-3 (or 4-7) of every lane: rounded 32-bit sums, not yet shifted.
template <int kShift, bool kHigh>
[[gnu::always_inline]] inline void transform_half(V (&sums)[8], const V (&x)[8]) {
  // 8 * (rounding / 8), because the rounding of the row pass does not fit a 16-bit factor.
  const V eights = _mm256_set1_epi16(8);
  const V scale = factors(1 << kConstBits, (1 << (kShift - 1)) / 8);
  const V sum04 = _mm256_madd_epi16(interleave<kHigh>(_mm256_add_epi16(x[0], x[4]), eights), scale);
  const V difference04 =
      _mm256_madd_epi16(interleave<kHigh>(_mm256_sub_epi16(x[0], x[4]), eights), scale);
  const V x26 = interleave<kHigh>(x[2], x[6]);
  const V even2 = _mm256_madd_epi16(x26, factors(k0_541, k0_541 - k1_847));
  const V even3 = _mm256_madd_epi16(x26, factors(k0_541 + k0_765, k0_541));
  const V even[4] = {_mm256_add_epi32(sum04, even3), _mm256_add_epi32(difference04, even2),
                     _mm256_sub_epi32(difference04, even2), _mm256_sub_epi32(sum04, even3)};

  const V sums37_15 = interleave<kHigh>(_mm256_add_epi16(x[3], x[7]), _mm256_add_epi16(x[1], x[5]));
  const V z3 = _mm256_madd_epi16(sums37_15, factors(k1_175 - k1_961, k1_175));
  const V z4 = _mm256_madd_epi16(sums37_15, factors(k1_175, k1_175 - k0_390));
  const V x71 = interleave<kHigh>(x[7], x[1]);
  const V x53 = interleave<kHigh>(x[5], x[3]);
  const V odd[4] = {
      dot_and_add(z4, x71, factors(-k0_899, k1_501 - k0_899)),
      dot_and_add(z3, x53, factors(-k2_562, k3_072 - k2_562)),
      dot_and_add(z4, x53, factors(k2_053 - k2_562, -k2_562)),
      dot_and_add(z3, x71, factors(k0_298 - k0_899, -k0_899)),
  };

  for (int i = 0; i < 4; ++i) {
    sums[i] = _mm256_add_epi32(even[i], odd[i]);
    sums[7 - i] = _mm256_sub_epi32(even[i], odd[i]);
  }
}

/// transform_half for x[4] to x[7] that are zero.
template <int kShift, bool kHigh>
[[gnu::always_inline]] inline void transform_half_of_four(V (&sums)[8], const V (&x)[8]) {
  const V rounding = _mm256_set1_epi32(1 << (kShift - 1));
  const int scale = 1 << kConstBits;
  const V x20 = interleave<kHigh>(x[2], x[0]);
  const V even[4] = {
      dot_and_add(rounding, x20, factors(k0_541 + k0_765, scale)),
      dot_and_add(rounding, x20, factors(k0_541, scale)),
      dot_and_add(rounding, x20, factors(-k0_541, scale)),
      dot_and_add(rounding, x20, factors(-k0_541 - k0_765, scale)),
  };
  const V x31 = interleave<kHigh>(x[3], x[1]);
  const V odd[4] = {
      _mm256_madd_epi16(x31, factors(k1_175, k1_175 - k0_390 + k1_501 - k0_899)),
      _mm256_madd_epi16(x31, factors(k3_072 - k2_562 + k1_175 - k1_961, k1_175)),
      _mm256_madd_epi16(x31, factors(k1_175 - k2_562, k1_175 - k0_390)),
      _mm256_madd_epi16(x31, factors(k1_175 - k1_961, k1_175 - k0_899)),
  };
  for (int i = 0; i < 4; ++i) {
    sums[i] = _mm256_add_epi32(even[i], odd[i]);
    sums[7 - i] = _mm256_sub_epi32(even[i], odd[i]);
  }
}

/// a0 b0 a2 b2 a4 b4 a6 b6
[[gnu::always_inline]] inline V even_words(V a, V b) {
  return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xAA);
}

/// a1 b1 a3 b3 a5 b5 a7 b7
[[gnu::always_inline]] inline V odd_words(V a, V b) {
  return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xAA);
}

/// Sums of the row pass to words, in row order 0 4 1 5 2 6 3 7.
/// Shifting by 16 and then by the rest needs no saturation: 14 bits are left.
[[gnu::always_inline]] inline V shift_column(V low, V high) {
  return _mm256_srai_epi16(odd_words(low, high), kRowShift - 16);
}

[[gnu::always_inline]] inline void store_two_rows(uint8_t* first, uint8_t* second, V rows,
                                                  V offset) {
  const V by_row = _mm256_xor_si256(_mm256_permute4x64_epi64(rows, 0xD8), offset);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(by_row));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(second), _mm256_extracti128_si256(by_row, 1));
}

/// Sums of the row pass, each a column, to eight rows of 16 samples.
[[gnu::always_inline]] inline void store_columns(uint8_t* plane, ptrdiff_t stride,
                                                 const V (&low)[8], const V (&high)[8], V offset) {
  V bytes[4];  // columns i and i + 4
  for (int i = 0; i < 4; ++i)
    bytes[i] =
        _mm256_packs_epi16(shift_column(low[i], high[i]), shift_column(low[i + 4], high[i + 4]));
  const V columns01 = _mm256_unpacklo_epi8(bytes[0], bytes[1]);
  const V columns45 = _mm256_unpackhi_epi8(bytes[0], bytes[1]);
  const V columns23 = _mm256_unpacklo_epi8(bytes[2], bytes[3]);
  const V columns67 = _mm256_unpackhi_epi8(bytes[2], bytes[3]);
  const V left_0415 = _mm256_unpacklo_epi16(columns01, columns23);  // rows 0 4 1 5
  const V left_2637 = _mm256_unpackhi_epi16(columns01, columns23);
  const V right_0415 = _mm256_unpacklo_epi16(columns45, columns67);
  const V right_2637 = _mm256_unpackhi_epi16(columns45, columns67);
  const V rows[4] = {
      _mm256_unpacklo_epi32(left_0415, right_0415), _mm256_unpackhi_epi32(left_0415, right_0415),
      _mm256_unpacklo_epi32(left_2637, right_2637), _mm256_unpackhi_epi32(left_2637, right_2637)};
  for (int y = 0; y < 4; ++y)
    store_two_rows(plane + y * stride, plane + (y + 4) * stride, rows[y], offset);
}

/// Rows a and b of the column pass, saturated to words: 4 columns of a, then 4 of b.
[[gnu::always_inline]] inline V pack_rows(V a, V b) {
  return _mm256_packs_epi32(_mm256_srai_epi32(a, kColumnShift), _mm256_srai_epi32(b, kColumnShift));
}

template <int kWhich>
[[gnu::always_inline]] inline V shuffle_pairs(V a, V b) {
  return as_integers(_mm256_shuffle_ps(as_floats(a), as_floats(b), kWhich));
}

/// Four columns of words, each with rows 0 to 7, from sums that hold a row each.
[[gnu::always_inline]] inline void transpose_half(V* columns, const V (&sums)[8]) {
  const V rows02 = pack_rows(sums[0], sums[2]), rows46 = pack_rows(sums[4], sums[6]);
  const V rows13 = pack_rows(sums[1], sums[3]), rows57 = pack_rows(sums[5], sums[7]);
  const V even_rows01 = shuffle_pairs<0x88>(rows02, rows46);  // columns 0 and 1
  const V even_rows23 = shuffle_pairs<0xDD>(rows02, rows46);
  const V odd_rows01 = shuffle_pairs<0x88>(rows13, rows57);
  const V odd_rows23 = shuffle_pairs<0xDD>(rows13, rows57);
  columns[0] = even_words(even_rows01, odd_rows01);
  columns[1] = odd_words(even_rows01, odd_rows01);
  columns[2] = even_words(even_rows23, odd_rows23);
  columns[3] = odd_words(even_rows23, odd_rows23);
}

/// Whether transform_rows does with this dequantised row what libjpeg-turbo does.
[[gnu::always_inline]] inline bool is_in_range(V row0) {
  const V from_limit = _mm256_add_epi16(row0, _mm256_set1_epi16(kRow0Limit));
  const V beyond = _mm256_set1_epi16(-2 * kRow0Limit);
  return _mm256_testz_si256(from_limit, beyond);
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
