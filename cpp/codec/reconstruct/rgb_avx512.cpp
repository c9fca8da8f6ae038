// Chroma upsampling and colour conversion, 64 pixels at a time.
#if defined(__x86_64__)

// GCC 12 takes the undefined operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

#include <immintrin.h>

#include "codec/reconstruct/upsample.h"
#include "codec/reconstruct/variants.h"

namespace penstock {
namespace {

using V = __m512i;

[[gnu::always_inline]] inline V load_words(const int8_t* samples) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(samples)));
}

[[gnu::always_inline]] inline V three_times_plus(V near, V far) {
  return _mm512_add_epi16(_mm512_add_epi16(near, near), _mm512_add_epi16(near, far));
}

/// Without a vertical filter `far` is `near` and not looked at.
template <bool kVertical>
[[gnu::always_inline]] inline V column_sums(const int8_t* near, const int8_t* far) {
  return kVertical ? three_times_plus(load_words(near), load_words(far)) : load_words(near);
}

/// Two image columns for each of `count` chroma columns.
template <bool kVertical>
void upsample_h2(int8_t* target, const ChromaRows& rows, int first, int count) {
  constexpr int kShift = kVertical ? 4 : 2;
  const V bias_left = _mm512_set1_epi16(kVertical ? kH2v2BiasLeft : kH2v1BiasLeft);
  const V bias_right = _mm512_set1_epi16(kVertical ? kH2v2BiasRight : kH2v1BiasRight);
  const int8_t* near = rows.near + first;
  const int8_t* far = rows.far + first;
  for (int i = 0; i < count; i += 32) {
    const V before = column_sums<kVertical>(near + i - 1, far + i - 1);
    const V here = column_sums<kVertical>(near + i, far + i);
    const V after = column_sums<kVertical>(near + i + 1, far + i + 1);
    const V left = _mm512_add_epi16(three_times_plus(here, before), bias_left);
    const V right = _mm512_add_epi16(three_times_plus(here, after), bias_right);
    // The low byte of each word from the left columns, the high byte from the right ones.
    const V both = _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAA, _mm512_srai_epi16(left, kShift),
                                          _mm512_slli_epi16(right, 8 - kShift));
    _mm512_storeu_si512(target + 2 * i, both);
  }
}

void upsample_v2(int8_t* target, const ChromaRows& rows, int first, int count) {
  const V bias = _mm512_set1_epi16(rows.far_is_below ? kH1v2BiasBelow : kH1v2BiasAbove);
  for (int i = 0; i < count; i += 32) {
    const V sums = column_sums<true>(rows.near + first + i, rows.far + first + i);
    const V words = _mm512_srai_epi16(_mm512_add_epi16(sums, bias), 2);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + i), _mm512_cvtepi16_epi8(words));
  }
}

constexpr FancyFilters kFilters{upsample_h2<false>, upsample_v2, upsample_h2<true>};

/// Twice the sample in every word.
template <bool kHigh>
[[gnu::always_inline]] inline V doubled(V samples) {
  const V zero = _mm512_setzero_si512();
  return _mm512_srai_epi16(
      kHigh ? _mm512_unpackhi_epi8(zero, samples) : _mm512_unpacklo_epi8(zero, samples), 7);
}

/// What pairs of (doubled) blue and red chroma add to green.
[[gnu::always_inline]] inline V green_of_pairs(V pairs) {
  const V factors = _mm512_set1_epi32(static_cast<int>((-11277 & 0xFFFF) | -23401u << 16));
  return _mm512_srai_epi32(_mm512_dpwssd_epi32(_mm512_set1_epi32(32768), pairs, factors), 16);
}

struct Words {
  V red;
  V green;
  V blue;
};

/// Half of every lane. The 17-bit factors of the scalar code are halved, the samples doubled;
/// for red and blue one rounded 16-bit product gives the same results for all samples.
template <bool kHigh>
[[gnu::always_inline]] inline Words convert_half(V luma, V cb, V cr) {
  const V zero = _mm512_setzero_si512();
  const V y = kHigh ? _mm512_unpackhi_epi8(luma, zero) : _mm512_unpacklo_epi8(luma, zero);
  const V b = doubled<kHigh>(cb), r = doubled<kHigh>(cr);
  const V green = _mm512_packs_epi32(green_of_pairs(_mm512_unpacklo_epi16(b, r)),
                                     green_of_pairs(_mm512_unpackhi_epi16(b, r)));
  return {_mm512_add_epi16(y, _mm512_mulhrs_epi16(r, _mm512_set1_epi16(22970))),
          _mm512_add_epi16(y, green),
          _mm512_add_epi16(y, _mm512_mulhrs_epi16(b, _mm512_set1_epi16(29033)))};
}

void convert(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* luma, const int8_t* cb,
             const int8_t* cr, int count) {
  for (int x = 0; x < count; x += 64) {
    const V y = _mm512_loadu_si512(luma + x);
    const V b = _mm512_loadu_si512(cb + x), r = _mm512_loadu_si512(cr + x);
    const Words low = convert_half<false>(y, b, r), high = convert_half<true>(y, b, r);
    _mm512_storeu_si512(red + x, _mm512_packus_epi16(low.red, high.red));
    _mm512_storeu_si512(green + x, _mm512_packus_epi16(low.green, high.green));
    _mm512_storeu_si512(blue + x, _mm512_packus_epi16(low.blue, high.blue));
  }
}

}  // namespace

void rgb_row_avx512(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
                    const SamplePlane (&chroma)[2], int y, int left, int right,
                    const UpsampleRow& scratch) {
  const int8_t* cb = upsample_row_with(kFilters, scratch.blue, chroma[0], y, left, right);
  const int8_t* cr = upsample_row_with(kFilters, scratch.red, chroma[1], y, left, right);
  const uint8_t* samples = luma.origin + (y - luma.top) * luma.stride + (left - luma.left);
  convert(red, green, blue, samples, cb, cr, right - left);
}

}  // namespace penstock

#endif
