// Lanes of AVX2 (eight of 32 bits) and AVX-512 (sixteen), as the loops in warp_rows_impl.cpp and
// displaced_rows_impl.cpp use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/x86_vectors.h"

namespace penstock {
namespace {

struct WarpLaneTypes {
  static constexpr int kCount = kVectorFloats;
  using Ints = Vector;
  using Floats = penstock::Floats;
  using Doubles = decltype(MM(setzero_pd)());
  using HalfInts = HalfVector;
#if defined(PENSTOCK_ISA_AVX512)
  using Mask = __mmask16;
#else
  using Mask = Vector;
#endif
  struct Pairs {
    Ints left;
    Ints right;
  };

  static __m128i two_pairs(const uint32_t* first, const int32_t* at) {
    const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first + at[0]));
    return _mm_castps_si128(
        _mm_loadh_pi(_mm_castsi128_ps(pair), reinterpret_cast<const __m64*>(first + at[1])));
  }

  /// Places along one axis as pixels left of them and what remains; 0 and 0 outside.
  struct Split {
    Ints whole;
    Floats rest;
    Mask inside;
  };
};

#if defined(PENSTOCK_ISA_AVX512)

struct OwnWarpLanes : WarpLaneTypes {
  /// Words that lie side by side in twos, sorted into lefts and rights.
  static Pairs load_pairs(const uint64_t* pairs) {
    const Ints low = penstock::load(pairs), high = penstock::load(pairs + kCount / 2);
    const Ints even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const Ints odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    return {_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high)};
  }
  static Ints join(HalfInts low, HalfInts high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
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
  static Doubles to_doubles(Ints value, int half) {
    return _mm512_cvtepi32_pd(half == 0 ? _mm512_castsi512_si256(value)
                                        : _mm512_extracti64x4_epi64(value, 1));
  }
  static Ints merge_differences(Ints earlier, Ints a, Ints b) {
    return _mm512_ternarylogic_epi32(earlier, a, b, 0xf6);  // earlier | (a ^ b)
  }
  static Mask has_any_bit(Ints value, Ints bits) { return _mm512_test_epi32_mask(value, bits); }
  static Mask has_no_bit(Ints value, Ints bits) { return _mm512_testn_epi32_mask(value, bits); }
  static Mask both(Mask a, Mask b) { return a & b; }
  static bool any(Mask mask) { return mask != 0; }
  static Ints select(Mask mask, Ints then, Ints otherwise) {
    return _mm512_mask_blend_epi32(mask, otherwise, then);
  }
  /// Whole numbers from 0 up to but not including `end`.
  static Mask from_zero_to(Ints value, int end) {
    return _mm512_cmplt_epu32_mask(value, _mm512_set1_epi32(end));
  }
  static Floats or_zero(Mask mask, Floats value) { return _mm512_maskz_mov_ps(mask, value); }
  static Floats floor_of(Floats value) {
    return _mm512_roundscale_ps(value, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  static void store_low_bytes(uint8_t* to, Ints value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(value));
  }
  static Ints in_every_128(__m128i bytes) { return _mm512_broadcast_i32x4(bytes); }
  /// Two words side by side at each of two places, then past the next two, and so on.
  static Ints take_pairs(const uint32_t* first, const int32_t* at) {
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(two_pairs(first, at)),
                                                two_pairs(first, at + 4), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(two_pairs(first, at + 8)),
                                                 two_pairs(first, at + 12), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  /// The planes of 16 pixels, of which each 128 bits hold four reds, greens, blues and others.
  static void store_fours(uint8_t* const (&planes)[3], int channels, int at, Ints fours) {
    const Ints order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const Ints sorted = _mm512_permutexvar_epi32(order, fours);
    const auto store = [&](int c, __m128i plane) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[c] + at), plane);
    };
    store(0, _mm512_castsi512_si128(sorted));
    if (channels == 1) return;
    store(1, _mm512_extracti32x4_epi32(sorted, 1));
    store(2, _mm512_extracti32x4_epi32(sorted, 2));
  }
};

#else

struct OwnWarpLanes : WarpLaneTypes {
  static Pairs load_pairs(const uint64_t* pairs) {
    const __m256 low = _mm256_castsi256_ps(penstock::load(pairs));
    const __m256 high = _mm256_castsi256_ps(penstock::load(pairs + kCount / 2));
    // Within 128 bits: low 0 and 1, high 0 and 1; then the middle two quarters change places.
    const auto sorted = [](__m256 mixed) {
      return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0b11'01'10'00);
    };
    return {sorted(_mm256_shuffle_ps(low, high, 0b10'00'10'00)),
            sorted(_mm256_shuffle_ps(low, high, 0b11'01'11'01))};
  }
  static Ints join(HalfInts low, HalfInts high) { return _mm256_set_m128i(high, low); }
  static Doubles floor_of(Doubles value) { return _mm256_floor_pd(value); }
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
  static Doubles to_doubles(Ints value, int half) {
    return _mm256_cvtepi32_pd(half == 0 ? _mm256_castsi256_si128(value)
                                        : _mm256_extracti128_si256(value, 1));
  }
  static Ints merge_differences(Ints earlier, Ints a, Ints b) {
    return _mm256_or_si256(earlier, _mm256_xor_si256(a, b));
  }
  static Mask has_no_bit(Ints value, Ints bits) {
    return _mm256_cmpeq_epi32(_mm256_and_si256(value, bits), _mm256_set1_epi32(0));
  }
  static Mask has_any_bit(Ints value, Ints bits) {
    return _mm256_xor_si256(has_no_bit(value, bits), _mm256_set1_epi32(-1));
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
  static Floats floor_of(Floats value) { return _mm256_floor_ps(value); }
  static void store_low_bytes(uint8_t* to, Ints value) {
    const Ints bytes = _mm256_and_si256(value, _mm256_set1_epi32(0xff));
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
  }
  static Ints in_every_128(__m128i bytes) { return _mm256_broadcastsi128_si256(bytes); }
  static Ints take_pairs(const uint32_t* first, const int32_t* at) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(two_pairs(first, at)),
                                   two_pairs(first, at + 4), 1);
  }
  static void store_fours(uint8_t* const (&planes)[3], int channels, int at, Ints fours) {
    const Ints sorted =
        _mm256_permutevar8x32_epi32(fours, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    const __m128i low = _mm256_castsi256_si128(sorted);
    const auto store = [&](int c, __m128i plane) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(planes[c] + at), plane);
    };
    store(0, low);
    if (channels == 1) return;
    store(1, _mm_unpackhi_epi64(low, low));
    store(2, _mm256_extracti128_si256(sorted, 1));
  }
};

#endif

struct Lanes : OwnWarpLanes {
  using OwnWarpLanes::floor_of;

  static Ints load(const int32_t* from) { return penstock::load(from); }
  static Floats load(const float* from) { return MM(loadu_ps)(from); }
  static Ints all(uint32_t value) { return MM(set1_epi32)(static_cast<int>(value)); }
  static Floats all(float value) { return MM(set1_ps)(value); }

  static Doubles rest_of(const double* places) {
    const Doubles left = MM(sub_pd)(MM(loadu_pd)(places), MM(set1_pd)(0.5));
    return MM(sub_pd)(left, floor_of(left));
  }

  static Ints level(Ints words, int channel) {
    if (channel == 0) return MM_SI (and)(words, all(0xffu));
    if (channel == 2) return shift_right(words, 16);  // nothing lies above blue
    return MM_SI (and)(shift_right(words, 8), all(0xffu));
  }
  static Floats to_floats(Ints value) { return MM(cvtepi32_ps)(value); }

  static Ints add(Ints a, Ints b) { return MM(add_epi32)(a, b); }
  static Ints multiply(Ints a, Ints b) { return MM(mullo_epi32)(a, b); }
  static Ints shift_right(Ints value, int bits) { return MM(srli_epi32)(value, bits); }
  static Ints shift_right_signed(Ints value, int bits) { return MM(srai_epi32)(value, bits); }
  static Ints to_byte_range(Ints value) {
    return MM(min_epi32)(MM(max_epi32)(value, all(0u)), all(255u));
  }
  static Ints differences(Ints a, Ints b) { return MM_SI(xor)(a, b); }

  static Floats subtract(Floats a, Floats b) { return MM(sub_ps)(a, b); }
  static Floats multiply(Floats a, Floats b) { return MM(mul_ps)(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return MM(fmadd_ps)(a, b, c); }
  static Ints cut_off(Floats value, int scale) {
    return MM(cvttps_epi32)(MM(mul_ps)(value, all(static_cast<float>(scale))));
  }

  static Doubles add(Doubles a, Doubles b) { return MM(add_pd)(a, b); }
  static Doubles subtract(Doubles a, Doubles b) { return MM(sub_pd)(a, b); }
  static Doubles multiply(Doubles a, Doubles b) { return MM(mul_pd)(a, b); }
  static HalfInts cut_off(Doubles value) { return MM(cvttpd_epi32)(value); }

  static Ints clamp(Ints value, int low, int high) {
    return MM(min_epi32)(MM(max_epi32)(value, MM(set1_epi32)(low)), MM(set1_epi32)(high));
  }
  /// NaN becomes `low`.
  static Floats clamp_floats(Floats value, float low, float high) {
    return MM(min_ps)(MM(max_ps)(value, all(low)), all(high));
  }
  static Floats add(Floats a, Floats b) { return MM(add_ps)(a, b); }
  /// Ties go to even numbers.
  static Ints to_nearest(Floats value) { return MM(cvtps_epi32)(value); }

  // Of four pixels, whose numbers are 32 bits each and 128 together, two at a time become 64 bits.

  /// The low 16 bits of the first two pixels' numbers, or of the last two's, four times each.
  static Ints words_of_pixels(Ints numbers, int half) {
    const __m128i first = _mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 4, 5, 4, 5, 4, 5, 4, 5);
    const __m128i last = _mm_add_epi8(first, _mm_set1_epi8(8));
    return MM(shuffle_epi8)(numbers, in_every_128(half == 0 ? first : last));
  }
  /// Red and red, green and green, blue and blue of two words side by side.
  static Ints side_by_side(Ints pairs) {
    return MM(shuffle_epi8)(
        pairs, in_every_128(_mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15)));
  }
  /// One channel or three of pixels that are four bytes each.
  static void store_planes(uint8_t* const (&planes)[3], int channels, int at, Ints pixels) {
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store_fours(planes, channels, at, MM(shuffle_epi8)(pixels, in_every_128(order)));
  }

  static void store(int32_t* to, Ints value) { penstock::store(to, value); }
  static void store(float* to, Floats value) { MM(storeu_ps)(to, value); }
};

/// Pixels whose neighbours are taken before any of them is worked on.
constexpr int kTaken = 64;

/// The neighbours of `count` pixels, kRows x kRows for each: `pairs[p][i]` are two words side by
/// side, the p-th pair of pixel i. One load per pair: gather instructions take longer. What is
/// stored here is loaded again only when all of it has left for the cache, so none waits for the
/// other.
template <int kRows>
void take_pairs(uint64_t (&pairs)[kRows * (kRows / 2)][kTaken], const uint32_t* first,
                ptrdiff_t stride, const int32_t* at, int count) {
  for (int i = 0; i < count; ++i) {
    const uint32_t* row = first + at[i];
    for (int p = 0; p < kRows * (kRows / 2); ++p) {
      const int column = p % (kRows / 2) * 2;
      std::memcpy(&pairs[p][i], row + column, sizeof(uint64_t));
      if (column + 2 == kRows) row += stride;
    }
  }
}

}  // namespace
}  // namespace penstock
