// Eight lanes. See lanes_avx512.h for the meaning.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace penstock {
namespace {

struct Lanes {
  static constexpr int kCount = 8;
  typedef float Floats __attribute__((vector_size(32)));
  typedef uint32_t Words __attribute__((vector_size(32)));
  typedef int32_t Ints __attribute__((vector_size(32)));

  static Floats load(const float* from) { return Floats(_mm256_loadu_ps(from)); }
  static void store(float* to, Floats values) { _mm256_storeu_ps(to, __m256(values)); }
  static Ints load_bytes(const uint8_t* from) {
    return Ints(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  static void store_bytes(uint8_t* to, Ints values) {
    const __m256i low_bytes = _mm256_shuffle_epi8(
        __m256i(values), _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1,
                                                                   -1, -1, -1, -1, -1, -1, -1)));
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(low_bytes),
                                            _mm256_extracti128_si256(low_bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), both);
  }

  static Floats load_float16(const uint16_t* from) {
    return Floats(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  static void store_float16(uint16_t* to, Floats values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(__m256(values), _MM_FROUND_TO_NEAREST_INT));
  }
  static Floats load_bfloat16(const uint16_t* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return Floats(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  static void store_bfloat16(uint16_t* to, Floats values) {
    const Words bits = Words(values);
    const Words rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    const __m256i halves = __m256i(values == values ? rounded : all(0x7FC0));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm_packus_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
  }

  static Words all(uint32_t word) { return Words(_mm256_set1_epi32(static_cast<int>(word))); }
  static Words words(Floats values) { return Words(values); }
  static Floats floats(Words bits) { return Floats(bits); }
  static Floats convert(Ints values) { return Floats(_mm256_cvtepi32_ps(__m256i(values))); }
  static Ints truncate(Floats values) { return Ints(_mm256_cvttps_epi32(__m256(values))); }
  static Floats clamp(Floats values, float low, float high) {
    return Floats(
        _mm256_min_ps(_mm256_max_ps(__m256(values), _mm256_set1_ps(low)), _mm256_set1_ps(high)));
  }
  static Ints clamp(Ints values, int low, int high) {
    return Ints(_mm256_min_epi32(_mm256_max_epi32(__m256i(values), _mm256_set1_epi32(low)),
                                 _mm256_set1_epi32(high)));
  }
  static Floats square_root(Floats values) { return Floats(_mm256_sqrt_ps(__m256(values))); }
  static Floats multiply_add(Floats a, float b, Floats c) {
    return Floats(_mm256_fmadd_ps(__m256(a), _mm256_set1_ps(b), __m256(c)));
  }
  static uint32_t mask_beyond(Floats values, float limit) {
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), __m256(values));
    return static_cast<uint32_t>(
        _mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(limit), _CMP_GT_OQ)));
  }

  struct Spread {
    __m256i even;
    __m256i odd;
  };
  static Spread spread(Words words) {
    return {__m256i(words), _mm256_srli_epi64(__m256i(words), 32)};
  }
  static Words join(Spread spread) {
    return Words(_mm256_blend_epi32(spread.even, _mm256_slli_epi64(spread.odd, 32), 0xAA));
  }
  static Spread product(Spread a, uint32_t factor) {
    const __m256i factors = _mm256_set1_epi32(static_cast<int>(factor));
    return {_mm256_mul_epu32(a.even, factors), _mm256_mul_epu32(a.odd, factors)};
  }
  static Spread high_xor(Spread a, Spread b, uint32_t c) {
    const __m256i last = _mm256_set1_epi32(static_cast<int>(c));
    return {_mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a.even, 32), b.even), last),
            _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a.odd, 32), b.odd), last)};
  }

  static Words ascending() { return Words{0, 1, 2, 3, 4, 5, 6, 7}; }
  static Words group_offsets() { return Words{0, 2, 4, 6, 1, 3, 5, 7}; }
  static void store_groups(float* to, Floats first, Floats second, Floats third, Floats fourth) {
    const __m256d low_01 = _mm256_castps_pd(_mm256_unpacklo_ps(__m256(first), __m256(second)));
    const __m256d high_01 = _mm256_castps_pd(_mm256_unpackhi_ps(__m256(first), __m256(second)));
    const __m256d low_23 = _mm256_castps_pd(_mm256_unpacklo_ps(__m256(third), __m256(fourth)));
    const __m256d high_23 = _mm256_castps_pd(_mm256_unpackhi_ps(__m256(third), __m256(fourth)));
    store(to, Floats(_mm256_unpacklo_pd(low_01, low_23)));
    store(to + kCount, Floats(_mm256_unpackhi_pd(low_01, low_23)));
    store(to + 2 * kCount, Floats(_mm256_unpacklo_pd(high_01, high_23)));
    store(to + 3 * kCount, Floats(_mm256_unpackhi_pd(high_01, high_23)));
  }
};

}  // namespace
}  // namespace penstock
