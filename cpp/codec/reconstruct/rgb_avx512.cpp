// Chroma upsampling and colour conversion, 64 pixels at a time.
#include <immintrin.h>

#include "codec/reconstruct.h"
#include "codec/reconstruct/upsample.h"

namespace penstock::avx512 {
namespace {

using V = __m512i;

template <bool kHigh>
[[gnu::always_inline]] inline V interleave_bytes(V a, V b) {
  return kHigh ? _mm512_unpackhi_epi8(a, b) : _mm512_unpacklo_epi8(a, b);
}

/// 3 * near + far, as words, for half of every lane.
template <bool kHigh>
[[gnu::always_inline]] inline V weigh(V near, V far) {
  return _mm512_maddubs_epi16(_mm512_set1_epi16(0x0103), interleave_bytes<kHigh>(near, far));
}

/// Samples of a row and those beside them.
struct Neighbours {
  explicit Neighbours(const int8_t* samples)
      : before(_mm512_loadu_si512(samples - 1)),
        here(_mm512_loadu_si512(samples)),
        after(_mm512_loadu_si512(samples + 1)) {}
  V before;
  V here;
  V after;
};

/// A byte for the left and one for the right image column of every chroma column.
template <int kShift>
[[gnu::always_inline]] inline V shift_and_interleave(V left, V right) {
  return _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAA, _mm512_srai_epi16(left, kShift),
                                _mm512_slli_epi16(right, 8 - kShift));
}

template <bool kHigh>
[[gnu::always_inline]] inline V filter_h2v1(const Neighbours& row) {
  const V left = weigh<kHigh>(row.here, row.before), right = weigh<kHigh>(row.here, row.after);
  return shift_and_interleave<2>(_mm512_add_epi16(left, _mm512_set1_epi16(kH2v1BiasLeft)),
                                 _mm512_add_epi16(right, _mm512_set1_epi16(kH2v1BiasRight)));
}

template <bool kHigh>
[[gnu::always_inline]] inline V filter_h2v2(const Neighbours& near, const Neighbours& far) {
  const V before = weigh<kHigh>(near.before, far.before);
  const V here = weigh<kHigh>(near.here, far.here);
  const V after = weigh<kHigh>(near.after, far.after);
  const V here3 = _mm512_add_epi16(here, _mm512_add_epi16(here, here));
  const V bias_left = _mm512_set1_epi16(kH2v2BiasLeft);
  const V bias_right = _mm512_set1_epi16(kH2v2BiasRight);
  return shift_and_interleave<4>(_mm512_add_epi16(here3, _mm512_add_epi16(before, bias_left)),
                                 _mm512_add_epi16(here3, _mm512_add_epi16(after, bias_right)));
}

/// Pairs of columns, from the halves of lanes to their places.
[[gnu::always_inline]] inline void store_pairs(int8_t* target, V low, V high) {
  const V first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const V second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  _mm512_storeu_si512(target, _mm512_permutex2var_epi64(low, first, high));
  _mm512_storeu_si512(target + 64, _mm512_permutex2var_epi64(low, second, high));
}

void upsample_h2v1(int8_t* target, const ChromaRows& rows, int first, int count) {
  for (int i = 0; i < count; i += 64) {
    const Neighbours row(rows.near + first + i);
    store_pairs(target + 2 * i, filter_h2v1<false>(row), filter_h2v1<true>(row));
  }
}

void upsample_h2v2(int8_t* target, const ChromaRows& rows, int first, int count) {
  for (int i = 0; i < count; i += 64) {
    const Neighbours near(rows.near + first + i), far(rows.far + first + i);
    store_pairs(target + 2 * i, filter_h2v2<false>(near, far), filter_h2v2<true>(near, far));
  }
}

void upsample_h1v2(int8_t* target, const ChromaRows& rows, int first, int count) {
  const V bias = _mm512_set1_epi16(rows.far_is_below ? kH1v2BiasBelow : kH1v2BiasAbove);
  for (int i = 0; i < count; i += 64) {
    const V near = _mm512_loadu_si512(rows.near + first + i);
    const V far = _mm512_loadu_si512(rows.far + first + i);
    const V low = _mm512_srai_epi16(_mm512_add_epi16(weigh<false>(near, far), bias), 2);
    const V high = _mm512_srai_epi16(_mm512_add_epi16(weigh<true>(near, far), bias), 2);
    _mm512_storeu_si512(target + i, _mm512_packs_epi16(low, high));
  }
}

constexpr FancyFilters kFilters{upsample_h2v1, upsample_h1v2, upsample_h2v2};

/// Twice the sample in every word.
template <bool kHigh>
[[gnu::always_inline]] inline V doubled(V samples) {
  return _mm512_srai_epi16(interleave_bytes<kHigh>(_mm512_setzero_si512(), samples), 7);
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
  const V y = interleave_bytes<kHigh>(luma, _mm512_setzero_si512());
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

void rgb_row(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
             const SamplePlane (&chroma)[2], int y, int left, int right,
             const UpsampleRow& scratch) {
  const int8_t* cb = upsample_row_with(kFilters, scratch.blue, chroma[0], y, left, right);
  const int8_t* cr = upsample_row_with(kFilters, scratch.red, chroma[1], y, left, right);
  const uint8_t* samples = luma.origin + (y - luma.top) * luma.stride + (left - luma.left);
  convert(red, green, blue, samples, cb, cr, right - left);
}

}  // namespace penstock::avx512
