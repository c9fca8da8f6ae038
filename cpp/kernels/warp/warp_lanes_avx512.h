// Sixteen lanes, as the loops in warp_rows_impl.h and displaced_rows_impl.h use them.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace penstock {
namespace {

struct Lanes {
  static constexpr int kCount = 16;
  using Ints = __m512i;
  using Floats = __m512;
  using Doubles = __m512d;
  using HalfInts = __m256i;
  using Mask = __mmask16;
  struct Pairs {
    Ints left;
    Ints right;
  };

  static Ints load(const int32_t* from) { return _mm512_loadu_si512(from); }
  static Floats load(const float* from) { return _mm512_loadu_ps(from); }
  static Ints all(uint32_t value) { return _mm512_set1_epi32(static_cast<int>(value)); }
  static Floats all(float value) { return _mm512_set1_ps(value); }

  /// Two words side by side at once, then sorted into lefts and rights.
  static Pairs gather_pairs(const uint32_t* first, Ints at) {
    const Ints low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), first, sizeof(uint32_t));
    const Ints high =
        _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), first, sizeof(uint32_t));
    const Ints even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const Ints odd = _mm512_or_si512(even, all(1u));
    return {_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high)};
  }

  /// Places along one axis as pixels left of them and what remains; 0 and 0 outside.
  struct Split {
    Ints whole;
    Floats rest;
    Mask inside;
  };
  static Split split(const double* places, int size) {
    const Doubles limit = _mm512_set1_pd(size), half = _mm512_set1_pd(0.5);
    HalfInts whole[2];
    __m256 rest[2];
    __mmask8 inside[2];
    for (int i = 0; i < 2; ++i) {
      const Doubles place = _mm512_loadu_pd(places + 8 * i);
      inside[i] = _mm512_cmp_pd_mask(place, _mm512_setzero_pd(), _CMP_GE_OQ) &
                  _mm512_cmp_pd_mask(place, limit, _CMP_LT_OQ);
      const Doubles left = _mm512_maskz_sub_pd(inside[i], place, half);
      const Doubles floor = floor_of(left);
      whole[i] = _mm512_cvttpd_epi32(floor);
      rest[i] = _mm512_cvtpd_ps(_mm512_sub_pd(left, floor));
    }
    return {join(whole[0], whole[1]),
            _mm512_insertf32x8(_mm512_castps256_ps512(rest[0]), rest[1], 1),
            _mm512_kunpackb(inside[1], inside[0])};
  }
  static Doubles floor_of(Doubles value) {
    return _mm512_roundscale_pd(value, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  static Doubles rest_of(const double* places) {
    const Doubles left = _mm512_sub_pd(_mm512_loadu_pd(places), _mm512_set1_pd(0.5));
    return _mm512_sub_pd(left, floor_of(left));
  }

  static Ints level(Ints words, int channel) {
    if (channel == 0) return _mm512_and_si512(words, all(0xffu));
    if (channel == 2) return shift_right(words, 16);  // nothing lies above blue
    return _mm512_and_si512(shift_right(words, 8), all(0xffu));
  }
  static Floats to_floats(Ints value) { return _mm512_cvtepi32_ps(value); }
  static Doubles to_doubles(Ints value, int half) {
    return _mm512_cvtepi32_pd(half == 0 ? _mm512_castsi512_si256(value)
                                        : _mm512_extracti64x4_epi64(value, 1));
  }
  static Ints join(HalfInts low, HalfInts high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }

  static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  static Ints multiply(Ints a, Ints b) { return _mm512_mullo_epi32(a, b); }
  static Ints shift_right(Ints value, int bits) { return _mm512_srli_epi32(value, bits); }
  static Ints shift_right_signed(Ints value, int bits) { return _mm512_srai_epi32(value, bits); }
  static Ints to_byte_range(Ints value) {
    return _mm512_min_epi32(_mm512_max_epi32(value, all(0u)), all(255u));
  }
  static Ints differences(Ints a, Ints b) { return _mm512_xor_si512(a, b); }
  static Ints merge_differences(Ints earlier, Ints a, Ints b) {
    return _mm512_ternarylogic_epi32(earlier, a, b, 0xf6);  // earlier | (a ^ b)
  }

  static Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Ints cut_off(Floats value, int scale) {
    return _mm512_cvttps_epi32(_mm512_mul_ps(value, all(static_cast<float>(scale))));
  }

  static Doubles add(Doubles a, Doubles b) { return _mm512_add_pd(a, b); }
  static Doubles subtract(Doubles a, Doubles b) { return _mm512_sub_pd(a, b); }
  static Doubles multiply(Doubles a, Doubles b) { return _mm512_mul_pd(a, b); }
  static HalfInts cut_off(Doubles value) { return _mm512_cvttpd_epi32(value); }

  static Mask has_any_bit(Ints value, Ints bits) { return _mm512_test_epi32_mask(value, bits); }
  static Mask has_no_bit(Ints value, Ints bits) { return _mm512_testn_epi32_mask(value, bits); }
  static Mask both(Mask a, Mask b) { return a & b; }
  static bool any(Mask mask) { return mask != 0; }
  static Ints select(Mask mask, Ints then, Ints otherwise) {
    return _mm512_mask_blend_epi32(mask, otherwise, then);
  }

  /// Whole numbers from 0 up to but not including `end`.
  static Mask from_zero_to(Ints value, int end) {
    return _mm512_cmplt_epu32_mask(value, all(static_cast<uint32_t>(end)));
  }
  static Floats or_zero(Mask mask, Floats value) { return _mm512_maskz_mov_ps(mask, value); }
  static Ints clamp(Ints value, int low, int high) {
    return _mm512_min_epi32(_mm512_max_epi32(value, _mm512_set1_epi32(low)),
                            _mm512_set1_epi32(high));
  }
  /// NaN becomes `low`.
  static Floats clamp_floats(Floats value, float low, float high) {
    return _mm512_min_ps(_mm512_max_ps(value, all(low)), all(high));
  }
  static Floats floor_of(Floats value) {
    return _mm512_roundscale_ps(value, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  /// Ties go to even numbers.
  static Ints to_nearest(Floats value) { return _mm512_cvtps_epi32(value); }

  static void store(int32_t* to, Ints value) { _mm512_storeu_si512(to, value); }
  static void store_low_bytes(uint8_t* to, Ints value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(value));
  }
};

}  // namespace
}  // namespace penstock
