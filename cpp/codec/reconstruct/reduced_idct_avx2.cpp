// The 4x4 and 2x2 inverse DCTs of four blocks at once, two in each 128-bit lane.
#include <immintrin.h>

#include "codec/reconstruct.h"
#include "codec/reconstruct/islow.h"

namespace penstock::avx2 {
namespace {

using namespace islow;
using V = __m256i;

/// Factors for a dot product with word pairs.
[[gnu::always_inline]] inline V factors(int first, int second) {
  return _mm256_set1_epi32(
      static_cast<int>((first & 0xFFFF) | static_cast<unsigned>(second) << 16));
}

/// One dimension for the word pairs (x0, x2) and (x1, x3): shifted 32-bit sums.
template <int kShift>
[[gnu::always_inline]] inline void transform_pairs(V (&sums)[4], V x02, V x13) {
  constexpr int kOne = 1 << kConstBits, kCos1 = k0_541 + k0_765, kCos3 = k0_541;
  const V rounding = _mm256_set1_epi32(1 << (kShift - 1));
  const V even[2] = {_mm256_add_epi32(_mm256_madd_epi16(x02, factors(kOne, kOne)), rounding),
                     _mm256_add_epi32(_mm256_madd_epi16(x02, factors(kOne, -kOne)), rounding)};
  const V odd[2] = {_mm256_madd_epi16(x13, factors(kCos1, kCos3)),
                    _mm256_madd_epi16(x13, factors(kCos3, -kCos1))};
  for (int i = 0; i < 2; ++i) {
    sums[i] = _mm256_srai_epi32(_mm256_add_epi32(even[i], odd[i]), kShift);
    sums[3 - i] = _mm256_srai_epi32(_mm256_sub_epi32(even[i], odd[i]), kShift);
  }
}

/// One dimension for both blocks of every lane: x[i] holds line i of the first, then of the second.
template <int kShift>
[[gnu::always_inline]] inline void transform(V (&x)[4]) {
  V first[4], second[4];
  transform_pairs<kShift>(first, _mm256_unpacklo_epi16(x[0], x[2]),
                          _mm256_unpacklo_epi16(x[1], x[3]));
  transform_pairs<kShift>(second, _mm256_unpackhi_epi16(x[0], x[2]),
                          _mm256_unpackhi_epi16(x[1], x[3]));
  for (int i = 0; i < 4; ++i) x[i] = _mm256_packs_epi32(first[i], second[i]);
}

/// Swaps rows and columns of every block.
[[gnu::always_inline]] inline void transpose(V (&x)[4]) {
  const V first01 = _mm256_unpacklo_epi16(x[0], x[1]), first23 = _mm256_unpacklo_epi16(x[2], x[3]);
  const V second01 = _mm256_unpackhi_epi16(x[0], x[1]),
          second23 = _mm256_unpackhi_epi16(x[2], x[3]);
  const V first_low = _mm256_unpacklo_epi32(first01, first23);   // columns 0 and 1
  const V first_high = _mm256_unpackhi_epi32(first01, first23);  // columns 2 and 3
  const V second_low = _mm256_unpacklo_epi32(second01, second23);
  const V second_high = _mm256_unpackhi_epi32(second01, second23);
  x[0] = _mm256_unpacklo_epi64(first_low, second_low);
  x[1] = _mm256_unpackhi_epi64(first_low, second_low);
  x[2] = _mm256_unpacklo_epi64(first_high, second_high);
  x[3] = _mm256_unpackhi_epi64(first_high, second_high);
}

/// Four coefficients of one row in each of four blocks, dequantised: blocks 0, 1 and 2, 3.
[[gnu::always_inline]] inline V load_row(const int16_t* coefficients, const uint16_t* quant,
                                         int row) {
  const auto at = [&](int block) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(coefficients + 64 * block + 8 * row));
  };
  const V words =
      _mm256_set_m128i(_mm_unpacklo_epi64(at(2), at(3)), _mm_unpacklo_epi64(at(0), at(1)));
  const __m128i q = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(quant + 8 * row));
  return _mm256_mullo_epi16(words, _mm256_broadcastq_epi64(q));
}

[[gnu::always_inline]] inline void clear_blocks(int16_t* coefficients) {
  for (int i = 0; i < 16; ++i)
    _mm256_store_si256(reinterpret_cast<V*>(coefficients + 16 * i), _mm256_setzero_si256());
}

/// An eighth of the first dword in each half lane of both, side by side.
[[gnu::always_inline]] inline V shifted_pairs(V left, V right) {
  const V pairs = _mm256_blend_epi32(left, _mm256_slli_epi64(right, 32), 0xAA);
  return _mm256_srai_epi32(_mm256_add_epi32(pairs, _mm256_set1_epi32(4)), 3);
}

}  // namespace

void idct_row_4x4(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                  const uint16_t* quant, bool centred) {
  const __m128i offset = _mm_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  for (int done = 0; done < blocks; done += 4, coefficients += 4 * 64, plane += 4 * 4) {
    V x[4];
    for (int row = 0; row < 4; ++row) x[row] = load_row(coefficients, quant, row);
    transform<kColumnShift>(x);
    transpose(x);
    transform<kRowShift>(x);
    transpose(x);
    for (int row = 0; row < 4; ++row) {
      const __m128i samples =
          _mm_packs_epi16(_mm256_castsi256_si128(x[row]), _mm256_extracti128_si256(x[row], 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(plane + row * stride),
                       _mm_xor_si128(samples, offset));
    }
    clear_blocks(coefficients);
  }
}

void idct_row_2x2(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                  const uint16_t* quant, bool centred) {
  const __m128i offset = _mm_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  for (int done = 0; done < blocks; done += 4, coefficients += 4 * 64, plane += 4 * 2) {
    // The first dword of each half lane holds a block's two coefficients; the second is not used.
    const V row0 = load_row(coefficients, quant, 0), row1 = load_row(coefficients, quant, 1);
    const V left0 = _mm256_madd_epi16(row0, factors(1, 1));
    const V left1 = _mm256_madd_epi16(row1, factors(1, 1));
    const V right0 = _mm256_madd_epi16(row0, factors(1, -1));
    const V right1 = _mm256_madd_epi16(row1, factors(1, -1));
    const V upper = shifted_pairs(_mm256_add_epi32(left0, left1), _mm256_add_epi32(right0, right1));
    const V lower = shifted_pairs(_mm256_sub_epi32(left0, left1), _mm256_sub_epi32(right0, right1));
    const V words = _mm256_packs_epi32(upper, lower);  // four of either in each lane
    const __m128i samples = _mm_xor_si128(
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)), offset);
    const __m128i rows = _mm_shuffle_epi32(samples, 0xD8);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(plane), rows);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(plane + stride), _mm_unpackhi_epi64(rows, rows));
    clear_blocks(coefficients);
  }
}

}  // namespace penstock::avx2
