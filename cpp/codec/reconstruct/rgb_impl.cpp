// Chroma upsampling and colour conversion, as many pixels at a time as a register has bytes.
#include "base/x86_vectors.h"
#include "codec/reconstruct.h"
#include "codec/reconstruct/upsample.h"

namespace penstock::PENSTOCK_ISA {
namespace {

using V = Vector;

template <bool kHigh>
[[gnu::always_inline]] inline V interleave_bytes(V a, V b) {
  return kHigh ? MM(unpackhi_epi8)(a, b) : MM(unpacklo_epi8)(a, b);
}

/// 3 * near + far, as words, for half of every lane.
template <bool kHigh>
[[gnu::always_inline]] inline V weigh(V near, V far) {
  return MM(maddubs_epi16)(MM(set1_epi16)(0x0103), interleave_bytes<kHigh>(near, far));
}

/// Samples of a row and those beside them.
struct Neighbours {
  explicit Neighbours(const int8_t* samples)
      : before(load(samples - 1)), here(load(samples)), after(load(samples + 1)) {}
  V before;
  V here;
  V after;
};

/// A byte for the left and one for the right image column of every chroma column.
template <int kShift>
[[gnu::always_inline]] inline V shift_and_interleave(V left, V right) {
  const V low = MM(srai_epi16)(left, kShift), high = MM(slli_epi16)(right, 8 - kShift);
#if defined(PENSTOCK_ISA_AVX512)
  return _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAA, low, high);
#else
  return _mm256_blendv_epi8(low, high, _mm256_set1_epi16(static_cast<int16_t>(0xFF00)));
#endif
}

template <bool kHigh>
[[gnu::always_inline]] inline V filter_h2v1(const Neighbours& row) {
  const V left = weigh<kHigh>(row.here, row.before), right = weigh<kHigh>(row.here, row.after);
  return shift_and_interleave<2>(MM(add_epi16)(left, MM(set1_epi16)(kH2v1BiasLeft)),
                                 MM(add_epi16)(right, MM(set1_epi16)(kH2v1BiasRight)));
}

template <bool kHigh>
[[gnu::always_inline]] inline V filter_h2v2(const Neighbours& near, const Neighbours& far) {
  const V before = weigh<kHigh>(near.before, far.before);
  const V here = weigh<kHigh>(near.here, far.here);
  const V after = weigh<kHigh>(near.after, far.after);
  const V here3 = MM(add_epi16)(here, MM(add_epi16)(here, here));
  const V bias_left = MM(set1_epi16)(kH2v2BiasLeft);
  const V bias_right = MM(set1_epi16)(kH2v2BiasRight);
  return shift_and_interleave<4>(MM(add_epi16)(here3, MM(add_epi16)(before, bias_left)),
                                 MM(add_epi16)(here3, MM(add_epi16)(after, bias_right)));
}

/// Pairs of columns, from the halves of lanes to their places.
[[gnu::always_inline]] inline void store_pairs(int8_t* target, V low, V high) {
#if defined(PENSTOCK_ISA_AVX512)
  const V first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const V second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  store(target, _mm512_permutex2var_epi64(low, first, high));
  store(target + kVectorBytes, _mm512_permutex2var_epi64(low, second, high));
#else
  store(target, _mm256_permute2x128_si256(low, high, 0x20));
  store(target + kVectorBytes, _mm256_permute2x128_si256(low, high, 0x31));
#endif
}

void upsample_h2v1(int8_t* target, const ChromaRows& rows, int first, int count) {
  for (int i = 0; i < count; i += kVectorBytes) {
    const Neighbours row(rows.near + first + i);
    store_pairs(target + 2 * i, filter_h2v1<false>(row), filter_h2v1<true>(row));
  }
}

void upsample_h2v2(int8_t* target, const ChromaRows& rows, int first, int count) {
  for (int i = 0; i < count; i += kVectorBytes) {
    const Neighbours near(rows.near + first + i), far(rows.far + first + i);
    store_pairs(target + 2 * i, filter_h2v2<false>(near, far), filter_h2v2<true>(near, far));
  }
}

void upsample_h1v2(int8_t* target, const ChromaRows& rows, int first, int count) {
  const V bias = MM(set1_epi16)(rows.far_is_below ? kH1v2BiasBelow : kH1v2BiasAbove);
  for (int i = 0; i < count; i += kVectorBytes) {
    const V near = load(rows.near + first + i);
    const V far = load(rows.far + first + i);
    const V low = MM(srai_epi16)(MM(add_epi16)(weigh<false>(near, far), bias), 2);
    const V high = MM(srai_epi16)(MM(add_epi16)(weigh<true>(near, far), bias), 2);
    store(target + i, MM(packs_epi16)(low, high));
  }
}

constexpr FancyFilters kFilters{upsample_h2v1, upsample_h1v2, upsample_h2v2};

/// Twice the sample in every word.
template <bool kHigh>
[[gnu::always_inline]] inline V doubled(V samples) {
  return MM(srai_epi16)(interleave_bytes<kHigh>(zero(), samples), 7);
}

/// What pairs of (doubled) blue and red chroma add to green.
[[gnu::always_inline]] inline V green_of_pairs(V pairs) {
  const V factors = MM(set1_epi32)(static_cast<int>((-11277 & 0xFFFF) | -23401u << 16));
  return MM(srai_epi32)(dot_and_add(MM(set1_epi32)(32768), pairs, factors), 16);
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
  const V y = interleave_bytes<kHigh>(luma, zero());
  const V b = doubled<kHigh>(cb), r = doubled<kHigh>(cr);
  const V green = MM(packs_epi32)(green_of_pairs(MM(unpacklo_epi16)(b, r)),
                                  green_of_pairs(MM(unpackhi_epi16)(b, r)));
  return {MM(add_epi16)(y, MM(mulhrs_epi16)(r, MM(set1_epi16)(22970))), MM(add_epi16)(y, green),
          MM(add_epi16)(y, MM(mulhrs_epi16)(b, MM(set1_epi16)(29033)))};
}

void convert(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* luma, const int8_t* cb,
             const int8_t* cr, int count) {
  for (int x = 0; x < count; x += kVectorBytes) {
    const V y = load(luma + x);
    const V b = load(cb + x), r = load(cr + x);
    const Words low = convert_half<false>(y, b, r), high = convert_half<true>(y, b, r);
    store(red + x, MM(packus_epi16)(low.red, high.red));
    store(green + x, MM(packus_epi16)(low.green, high.green));
    store(blue + x, MM(packus_epi16)(low.blue, high.blue));
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

}  // namespace penstock::PENSTOCK_ISA
