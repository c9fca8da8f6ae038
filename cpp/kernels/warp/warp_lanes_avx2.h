// Eight lanes. See warp_lanes_avx512.h for the meaning.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace penstock {
namespace {

struct Lanes {
  static constexpr int kCount = 8;
  using Ints = __m256i;
  using Floats = __m256;
  using Doubles = __m256d;
  using HalfInts = __m128i;
  using Mask = __m256i;
  struct Pairs {
    Ints left;
    Ints right;
  };

  static Ints load(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Floats load(const float* from) { return _mm256_loadu_ps(from); }
  static Ints all(uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }
  static Floats all(float value) { return _mm256_set1_ps(value); }

  /// Two words side by side at once, then sorted into lefts and rights.
  static Pairs gather_pairs(const uint32_t* first, Ints at) {
    const auto* pairs = reinterpret_cast<const long long*>(first);
    const __m256 low = _mm256_castsi256_ps(
        _mm256_i32gather_epi64(pairs, _mm256_castsi256_si128(at), sizeof(uint32_t)));
    const __m256 high = _mm256_castsi256_ps(
        _mm256_i32gather_epi64(pairs, _mm256_extracti128_si256(at, 1), sizeof(uint32_t)));
    // Within 128 bits: low 0 and 1, high 0 and 1; then the middle two quarters change places.
    const auto sorted = [](__m256 mixed) {
      return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0b11'01'10'00);
    };
    return {sorted(_mm256_shuffle_ps(low, high, 0b10'00'10'00)),
            sorted(_mm256_shuffle_ps(low, high, 0b11'01'11'01))};
  }

  /// Places along one axis as pixels left of them and what remains; 0 and 0 outside.
  struct Split {
    Ints whole;
    Floats rest;
    Mask inside;
  };
  static Split split(const double* places, int size) {
    const Doubles limit = _mm256_set1_pd(size), half = _mm256_set1_pd(0.5);
    HalfInts whole[2], inside[2];
    __m128 rest[2];
    for (int i = 0; i < 2; ++i) {
      const Doubles place = _mm256_loadu_pd(places + 4 * i);
      const Doubles within = _mm256_and_pd(_mm256_cmp_pd(place, _mm256_setzero_pd(), _CMP_GE_OQ),
                                           _mm256_cmp_pd(place, limit, _CMP_LT_OQ));
      const Doubles left = _mm256_and_pd(within, _mm256_sub_pd(place, half));
      const Doubles floor = _mm256_floor_pd(left);
      whole[i] = _mm256_cvttpd_epi32(floor);
      rest[i] = _mm256_cvtpd_ps(_mm256_sub_pd(left, floor));
      const __m128 low = _mm_castpd_ps(_mm256_castpd256_pd128(within));
      const __m128 high = _mm_castpd_ps(_mm256_extractf128_pd(within, 1));
      inside[i] = _mm_castps_si128(_mm_shuffle_ps(low, high, 0b10'00'10'00));
    }
    return {join(whole[0], whole[1]), _mm256_set_m128(rest[1], rest[0]),
            join(inside[0], inside[1])};
  }
  static Doubles rest_of(const double* places) {
    const Doubles left = _mm256_sub_pd(_mm256_loadu_pd(places), _mm256_set1_pd(0.5));
    return _mm256_sub_pd(left, _mm256_floor_pd(left));
  }

  static Ints level(Ints words, int channel) {
    if (channel == 0) return _mm256_and_si256(words, all(0xffu));
    if (channel == 2) return shift_right(words, 16);  // nothing lies above blue
    return _mm256_and_si256(shift_right(words, 8), all(0xffu));
  }
  static Floats to_floats(Ints value) { return _mm256_cvtepi32_ps(value); }
  static Doubles to_doubles(Ints value, int half) {
    return _mm256_cvtepi32_pd(half == 0 ? _mm256_castsi256_si128(value)
                                        : _mm256_extracti128_si256(value, 1));
  }
  static Ints join(HalfInts low, HalfInts high) { return _mm256_set_m128i(high, low); }

  static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  static Ints multiply(Ints a, Ints b) { return _mm256_mullo_epi32(a, b); }
  static Ints shift_right(Ints value, int bits) { return _mm256_srli_epi32(value, bits); }
  static Ints shift_right_signed(Ints value, int bits) { return _mm256_srai_epi32(value, bits); }
  static Ints to_byte_range(Ints value) {
    return _mm256_min_epi32(_mm256_max_epi32(value, all(0u)), all(255u));
  }
  static Ints differences(Ints a, Ints b) { return _mm256_xor_si256(a, b); }
  static Ints merge_differences(Ints earlier, Ints a, Ints b) {
    return _mm256_or_si256(earlier, differences(a, b));
  }

  static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Ints cut_off(Floats value, int scale) {
    return _mm256_cvttps_epi32(_mm256_mul_ps(value, all(static_cast<float>(scale))));
  }

  static Doubles add(Doubles a, Doubles b) { return _mm256_add_pd(a, b); }
  static Doubles subtract(Doubles a, Doubles b) { return _mm256_sub_pd(a, b); }
  static Doubles multiply(Doubles a, Doubles b) { return _mm256_mul_pd(a, b); }
  static HalfInts cut_off(Doubles value) { return _mm256_cvttpd_epi32(value); }

  static Mask has_no_bit(Ints value, Ints bits) {
    return _mm256_cmpeq_epi32(_mm256_and_si256(value, bits), all(0u));
  }
  static Mask has_any_bit(Ints value, Ints bits) {
    return _mm256_xor_si256(has_no_bit(value, bits), all(~0u));
  }
  static Mask both(Mask a, Mask b) { return _mm256_and_si256(a, b); }
  static bool any(Mask mask) { return _mm256_movemask_epi8(mask) != 0; }
  static Ints select(Mask mask, Ints then, Ints otherwise) {
    return _mm256_blendv_epi8(otherwise, then, mask);
  }

  static Mask from_zero_to(Ints value, int end) {
    return _mm256_andnot_si256(_mm256_srai_epi32(value, 31),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32(end), value));
  }
  static Floats or_zero(Mask mask, Floats value) {
    return _mm256_and_ps(_mm256_castsi256_ps(mask), value);
  }
  static Ints clamp(Ints value, int low, int high) {
    return _mm256_min_epi32(_mm256_max_epi32(value, _mm256_set1_epi32(low)),
                            _mm256_set1_epi32(high));
  }
  static Floats clamp_floats(Floats value, float low, float high) {
    return _mm256_min_ps(_mm256_max_ps(value, all(low)), all(high));
  }
  static Floats floor_of(Floats value) { return _mm256_floor_ps(value); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Ints to_nearest(Floats value) { return _mm256_cvtps_epi32(value); }

  static void store(int32_t* to, Ints value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
  static void store_low_bytes(uint8_t* to, Ints value) {
    const Ints bytes = _mm256_and_si256(value, all(0xffu));
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
  }
};

}  // namespace
}  // namespace penstock
