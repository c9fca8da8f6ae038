// A blend with gray in floating point.
#include "kernels/colour/variants.h"
#include "kernels/colour/vectors.h"

namespace penstock::avx2 {
namespace {

/// 8 values: gray + factor * difference, cut to 0 .. 255; NaN becomes 0.
__m256i blend_floats(__m256i gray, __m256i difference, __m256 factor) {
  const __m256 blended = _mm256_add_ps(_mm256_cvtepi32_ps(gray),
                                       _mm256_mul_ps(factor, _mm256_cvtepi32_ps(difference)));
  const __m256 cut =
      _mm256_min_ps(_mm256_max_ps(blended, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
  return _mm256_cvttps_epi32(cut);
}

/// 16 values in words.
__m256i blend_words(__m256i gray, __m256i level, __m256 factor) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i difference = _mm256_sub_epi16(level, gray);
  const __m256i sign = _mm256_srai_epi16(difference, 15);
  const __m256i low = blend_floats(_mm256_unpacklo_epi16(gray, zero),
                                   _mm256_unpacklo_epi16(difference, sign), factor);
  const __m256i high = blend_floats(_mm256_unpackhi_epi16(gray, zero),
                                    _mm256_unpackhi_epi16(difference, sign), factor);
  return _mm256_packs_epi32(low, high);
}

__m256i blend(const WordPair& gray, const WordPair& level, __m256 factor) {
  return _mm256_packus_epi16(blend_words(gray.low, level.low, factor),
                             blend_words(gray.high, level.high, factor));
}

}  // namespace

void saturate(const PlanarTarget& image, float factor) {
  const __m256 factors = _mm256_set1_ps(factor);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kVectorBytes) {
      uint8_t* const at[3] = {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x};
      const WordPair red = words_of(load(at[0]));
      const WordPair green = words_of(load(at[1]));
      const WordPair blue = words_of(load(at[2]));
      const WordPair gray = luma(red, green, blue);
      store(at[0], blend(gray, red, factors));
      store(at[1], blend(gray, green, factors));
      store(at[2], blend(gray, blue, factors));
    }
}

}  // namespace penstock::avx2
