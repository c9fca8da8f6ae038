// `Lanes` of AVX2 (eight of 32 bits) and AVX-512 (sixteen), as the loops in *_impl.cpp use them.
//
// Floats, Words and Ints have the arithmetic operators, each lane for itself; `condition ? a : b`
// chooses lane by lane.
#pragma once

#include "base/x86_vectors.h"

namespace penstock {
namespace {

struct LaneTypes {
  static constexpr int kCount = kVectorFloats;
  using Register = penstock::Floats;
  typedef float Floats __attribute__((vector_size(kVectorBytes)));
  typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
  typedef int32_t Ints __attribute__((vector_size(kVectorBytes)));

  /// Words in the lower halves of 64-bit lanes, for the sake of products; what is in the upper
  /// halves does not count.
  struct Spread {
    Vector even;
    Vector odd;
  };
};

#if defined(PENSTOCK_ISA_AVX512)

struct OwnLanes : LaneTypes {
  /// The lowest eight bits of each lane.
  static void store_bytes(uint8_t* to, Ints values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(Vector(values)));
  }
  /// A bit for each lane: whether its absolute value is above `limit`.
  static uint32_t mask_beyond(Floats values, float limit) {
    return _mm512_cmp_ps_mask(_mm512_abs_ps(__m512(values)), _mm512_set1_ps(limit), _CMP_GT_OQ);
  }
  static Words join(Spread spread) {
    return Words(_mm512_mask_blend_epi32(0xAAAA, spread.even, _mm512_slli_epi64(spread.odd, 32)));
  }
  /// The upper half of `a`, exclusive-or `b`, exclusive-or `c`.
  static Spread high_xor(Spread a, Spread b, uint32_t c) {
    constexpr int kXor = 0x96;
    const Vector last = _mm512_set1_epi32(static_cast<int>(c));
    return {_mm512_ternarylogic_epi32(_mm512_srli_epi64(a.even, 32), b.even, last, kXor),
            _mm512_ternarylogic_epi32(_mm512_srli_epi64(a.odd, 32), b.odd, last, kXor)};
  }
  /// 0, 1, 2, ...
  static Words ascending() { return Words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
  /// Which group of four numbers each lane has to hold for `store_groups` to write them in order.
  static Words group_offsets() {
    return Words{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  }
};

#else

struct OwnLanes : LaneTypes {
  static void store_bytes(uint8_t* to, Ints values) {
    const Vector low_bytes = _mm256_shuffle_epi8(
        Vector(values), _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1,
                                                                  -1, -1, -1, -1, -1, -1, -1)));
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(low_bytes),
                                            _mm256_extracti128_si256(low_bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), both);
  }
  static uint32_t mask_beyond(Floats values, float limit) {
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), __m256(values));
    return static_cast<uint32_t>(
        _mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(limit), _CMP_GT_OQ)));
  }
  static Words join(Spread spread) {
    return Words(_mm256_blend_epi32(spread.even, _mm256_slli_epi64(spread.odd, 32), 0xAA));
  }
  static Spread high_xor(Spread a, Spread b, uint32_t c) {
    const Vector last = _mm256_set1_epi32(static_cast<int>(c));
    return {_mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a.even, 32), b.even), last),
            _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a.odd, 32), b.odd), last)};
  }
  static Words ascending() { return Words{0, 1, 2, 3, 4, 5, 6, 7}; }
  static Words group_offsets() { return Words{0, 2, 4, 6, 1, 3, 5, 7}; }
};

#endif

struct Lanes : OwnLanes {
  static Floats load(const float* from) { return Floats(MM(loadu_ps)(from)); }
  static void store(float* to, Floats values) { MM(storeu_ps)(to, Register(values)); }
  static Ints load_bytes(const uint8_t* from) { return Ints(widen_bytes(from)); }

  static Floats load_float16(const uint16_t* from) { return Floats(MM(cvtph_ps)(load_half(from))); }
  static void store_float16(uint16_t* to, Floats values) {
    store_half(to, MM(cvtps_ph)(Register(values), _MM_FROUND_TO_NEAREST_INT));
  }
  static Floats load_bfloat16(const uint16_t* from) {
    return Floats(MM(slli_epi32)(MM(cvtepu16_epi32)(load_half(from)), 16));
  }
  /// To the nearest, ties to even.
  static void store_bfloat16(uint16_t* to, Floats values) {
    const Words bits = Words(values);
    const Words rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    store_half(to, narrow_to_words(Vector(values == values ? rounded : all(0x7FC0))));
  }

  static Words all(uint32_t word) { return Words(MM(set1_epi32)(static_cast<int>(word))); }
  static Words words(Floats values) { return Words(values); }
  static Floats floats(Words bits) { return Floats(bits); }
  static Floats convert(Ints values) { return Floats(MM(cvtepi32_ps)(Vector(values))); }
  static Ints truncate(Floats values) { return Ints(MM(cvttps_epi32)(Register(values))); }
  static Floats clamp(Floats values, float low, float high) {
    return Floats(MM(min_ps)(MM(max_ps)(Register(values), MM(set1_ps)(low)), MM(set1_ps)(high)));
  }
  static Ints clamp(Ints values, int low, int high) {
    return Ints(
        MM(min_epi32)(MM(max_epi32)(Vector(values), MM(set1_epi32)(low)), MM(set1_epi32)(high)));
  }
  static Floats square_root(Floats values) { return Floats(MM(sqrt_ps)(Register(values))); }
  /// a * b + c, rounded once.
  static Floats multiply_add(Floats a, float b, Floats c) {
    return Floats(MM(fmadd_ps)(Register(a), MM(set1_ps)(b), Register(c)));
  }

  static Spread spread(Words words) { return {Vector(words), MM(srli_epi64)(Vector(words), 32)}; }
  /// The 64-bit products.
  static Spread product(Spread a, uint32_t factor) {
    const Vector factors = MM(set1_epi32)(static_cast<int>(factor));
    return {MM(mul_epu32)(a.even, factors), MM(mul_epu32)(a.odd, factors)};
  }

  /// Writes the four numbers of each group side by side: a 4x4 transposition in every 128 bits.
  static void store_groups(float* to, Floats first, Floats second, Floats third, Floats fourth) {
    using Doubles = decltype(MM(setzero_pd)());
    const Doubles low_01 = MM(castps_pd)(MM(unpacklo_ps)(Register(first), Register(second)));
    const Doubles high_01 = MM(castps_pd)(MM(unpackhi_ps)(Register(first), Register(second)));
    const Doubles low_23 = MM(castps_pd)(MM(unpacklo_ps)(Register(third), Register(fourth)));
    const Doubles high_23 = MM(castps_pd)(MM(unpackhi_ps)(Register(third), Register(fourth)));
    store(to, Floats(MM(unpacklo_pd)(low_01, low_23)));
    store(to + kCount, Floats(MM(unpackhi_pd)(low_01, low_23)));
    store(to + 2 * kCount, Floats(MM(unpacklo_pd)(high_01, high_23)));
    store(to + 3 * kCount, Floats(MM(unpackhi_pd)(high_01, high_23)));
  }
};

}  // namespace
}  // namespace penstock
