// AVX2's and AVX-512's registers under one name each, so that a file compiled for both sets says
// only once what is the same in both. MM(add_epi16) is _mm256_add_epi16 or _mm512_add_epi16,
// MM_SI(xor) is _mm256_xor_si256 or _mm512_xor_si512; functions stand for what the sets call
// differently, or do best in different ways.
#pragma once

#include <immintrin.h>

#include <cstdint>

#if defined(PENSTOCK_ISA_AVX512)
#define MM(instruction) _mm512_##instruction
#define MM_SI(instruction) _mm512_##instruction##_si512
#else
#define MM(instruction) _mm256_##instruction
#define MM_SI(instruction) _mm256_##instruction##_si256
#endif

namespace penstock {
namespace {

#if defined(PENSTOCK_ISA_AVX512)

using Vector = __m512i;
using Floats = __m512;
using HalfVector = __m256i;

[[gnu::always_inline]] inline Vector load(const void* bytes) { return _mm512_loadu_si512(bytes); }
[[gnu::always_inline]] inline void store(void* to, Vector bytes) { _mm512_storeu_si512(to, bytes); }
[[gnu::always_inline]] inline Vector zero() { return _mm512_setzero_si512(); }
[[gnu::always_inline]] inline Vector as_integers(Floats v) { return _mm512_castps_si512(v); }
[[gnu::always_inline]] inline Floats as_floats(Vector v) { return _mm512_castsi512_ps(v); }

/// `sum` and the products of word pairs.
[[gnu::always_inline]] inline Vector dot_and_add(Vector sum, Vector pairs, Vector with) {
  return _mm512_dpwssd_epi32(sum, pairs, with);
}

[[gnu::always_inline]] inline HalfVector load_half(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const HalfVector*>(bytes));
}
[[gnu::always_inline]] inline void store_half(void* to, HalfVector bytes) {
  _mm256_storeu_si256(static_cast<HalfVector*>(to), bytes);
}
[[gnu::always_inline]] inline void stream_half(void* to, HalfVector bytes) {
  _mm256_stream_si256(static_cast<HalfVector*>(to), bytes);
}

/// Bytes as 32-bit numbers.
[[gnu::always_inline]] inline Vector widen_bytes(const uint8_t* bytes) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}
/// 32-bit numbers from 0 to 65535 as words.
[[gnu::always_inline]] inline HalfVector narrow_to_words(Vector numbers) {
  return _mm512_cvtepi32_epi16(numbers);
}

#else

using Vector = __m256i;
using Floats = __m256;
using HalfVector = __m128i;

[[gnu::always_inline]] inline Vector load(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const Vector*>(bytes));
}
[[gnu::always_inline]] inline void store(void* to, Vector bytes) {
  _mm256_storeu_si256(static_cast<Vector*>(to), bytes);
}
[[gnu::always_inline]] inline Vector zero() { return _mm256_setzero_si256(); }
[[gnu::always_inline]] inline Vector as_integers(Floats v) { return _mm256_castps_si256(v); }
[[gnu::always_inline]] inline Floats as_floats(Vector v) { return _mm256_castsi256_ps(v); }

[[gnu::always_inline]] inline Vector dot_and_add(Vector sum, Vector pairs, Vector with) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, with));
}

[[gnu::always_inline]] inline HalfVector load_half(const void* bytes) {
  return _mm_loadu_si128(static_cast<const HalfVector*>(bytes));
}
[[gnu::always_inline]] inline void store_half(void* to, HalfVector bytes) {
  _mm_storeu_si128(static_cast<HalfVector*>(to), bytes);
}
[[gnu::always_inline]] inline void stream_half(void* to, HalfVector bytes) {
  _mm_stream_si128(static_cast<HalfVector*>(to), bytes);
}

[[gnu::always_inline]] inline Vector widen_bytes(const uint8_t* bytes) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}
[[gnu::always_inline]] inline HalfVector narrow_to_words(Vector numbers) {
  return _mm_packus_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
}

#endif

/// Levels as floats.
[[gnu::always_inline]] inline Floats load_levels(const uint8_t* levels) {
  return MM(cvtepi32_ps)(widen_bytes(levels));
}

constexpr int kVectorBytes = sizeof(Vector);
constexpr int kVectorFloats = sizeof(Floats) / sizeof(float);

}  // namespace
}  // namespace penstock
