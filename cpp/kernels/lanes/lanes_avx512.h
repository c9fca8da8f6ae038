// Sixteen lanes of 32 bits, as the loops in *_impl.h use them. A variant's .cpp file includes the
// lanes of its instruction set and then the loops; both have internal linkage.
//
// Floats, Words and Ints have the arithmetic operators, each lane for itself; `condition ? a : b`
// chooses lane by lane.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace penstock {
namespace {

struct Lanes {
  static constexpr int kCount = 16;
  typedef float Floats __attribute__((vector_size(64)));
  typedef uint32_t Words __attribute__((vector_size(64)));
  typedef int32_t Ints __attribute__((vector_size(64)));

  static Floats load(const float* from) { return Floats(_mm512_loadu_ps(from)); }
  static void store(float* to, Floats values) { _mm512_storeu_ps(to, __m512(values)); }
  static Ints load_bytes(const uint8_t* from) {
    return Ints(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  /// The lowest eight bits of each lane.
  static void store_bytes(uint8_t* to, Ints values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(__m512i(values)));
  }

  static Floats load_float16(const uint16_t* from) {
    return Floats(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  }
  static void store_float16(uint16_t* to, Floats values) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(__m512(values), _MM_FROUND_TO_NEAREST_INT));
  }
  static Floats load_bfloat16(const uint16_t* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return Floats(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  /// To the nearest, ties to even.
  static void store_bfloat16(uint16_t* to, Floats values) {
    const Words bits = Words(values);
    const Words rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtepi32_epi16(__m512i(values == values ? rounded : all(0x7FC0))));
  }

  static Words all(uint32_t word) { return Words(_mm512_set1_epi32(static_cast<int>(word))); }
  static Words words(Floats values) { return Words(values); }
  static Floats floats(Words bits) { return Floats(bits); }
  static Floats convert(Ints values) { return Floats(_mm512_cvtepi32_ps(__m512i(values))); }
  static Ints truncate(Floats values) { return Ints(_mm512_cvttps_epi32(__m512(values))); }
  static Floats clamp(Floats values, float low, float high) {
    return Floats(
        _mm512_min_ps(_mm512_max_ps(__m512(values), _mm512_set1_ps(low)), _mm512_set1_ps(high)));
  }
  static Ints clamp(Ints values, int low, int high) {
    return Ints(_mm512_min_epi32(_mm512_max_epi32(__m512i(values), _mm512_set1_epi32(low)),
                                 _mm512_set1_epi32(high)));
  }
  static Floats square_root(Floats values) { return Floats(_mm512_sqrt_ps(__m512(values))); }
  /// a * b + c, rounded once.
  static Floats multiply_add(Floats a, float b, Floats c) {
    return Floats(_mm512_fmadd_ps(__m512(a), _mm512_set1_ps(b), __m512(c)));
  }
  /// A bit for each lane: whether its absolute value is above `limit`.
  static uint32_t mask_beyond(Floats values, float limit) {
    return _mm512_cmp_ps_mask(_mm512_abs_ps(__m512(values)), _mm512_set1_ps(limit), _CMP_GT_OQ);
  }

  /// Words in the lower halves of 64-bit lanes, for the sake of products; what is in the upper
  /// halves does not count.
  struct Spread {
    __m512i even;
    __m512i odd;
  };
  static Spread spread(Words words) {
    return {__m512i(words), _mm512_srli_epi64(__m512i(words), 32)};
  }
  static Words join(Spread spread) {
    return Words(_mm512_mask_blend_epi32(0xAAAA, spread.even, _mm512_slli_epi64(spread.odd, 32)));
  }
  /// The 64-bit products.
  static Spread product(Spread a, uint32_t factor) {
    const __m512i factors = _mm512_set1_epi32(static_cast<int>(factor));
    return {_mm512_mul_epu32(a.even, factors), _mm512_mul_epu32(a.odd, factors)};
  }
  /// The upper half of `a`, exclusive-or `b`, exclusive-or `c`.
  static Spread high_xor(Spread a, Spread b, uint32_t c) {
    constexpr int kXor = 0x96;
    const __m512i last = _mm512_set1_epi32(static_cast<int>(c));
    return {_mm512_ternarylogic_epi32(_mm512_srli_epi64(a.even, 32), b.even, last, kXor),
            _mm512_ternarylogic_epi32(_mm512_srli_epi64(a.odd, 32), b.odd, last, kXor)};
  }

  /// 0, 1, 2, ...
  static Words ascending() { return Words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
  /// Which group of four numbers each lane has to hold for `store_groups` to write them in order.
  static Words group_offsets() {
    return Words{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  }
  /// Writes the four numbers of each group side by side: a 4x4 transposition in every 128 bits.
  static void store_groups(float* to, Floats first, Floats second, Floats third, Floats fourth) {
    const __m512d low_01 = _mm512_castps_pd(_mm512_unpacklo_ps(__m512(first), __m512(second)));
    const __m512d high_01 = _mm512_castps_pd(_mm512_unpackhi_ps(__m512(first), __m512(second)));
    const __m512d low_23 = _mm512_castps_pd(_mm512_unpacklo_ps(__m512(third), __m512(fourth)));
    const __m512d high_23 = _mm512_castps_pd(_mm512_unpackhi_ps(__m512(third), __m512(fourth)));
    store(to, Floats(_mm512_unpacklo_pd(low_01, low_23)));
    store(to + kCount, Floats(_mm512_unpackhi_pd(low_01, low_23)));
    store(to + 2 * kCount, Floats(_mm512_unpacklo_pd(high_01, high_23)));
    store(to + 3 * kCount, Floats(_mm512_unpackhi_pd(high_01, high_23)));
  }
};

}  // namespace
}  // namespace penstock
