#include <immintrin.h>

#include "kernels/filter/sharpen.h"

namespace penstock::avx2 {
namespace {

constexpr int kStep = 16;

__m256i load_words(const uint8_t* bytes) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}

__m256i sum_across(const uint8_t* pixel) {
  return _mm256_add_epi16(_mm256_add_epi16(load_words(pixel - 1), load_words(pixel + 1)),
                          load_words(pixel));
}

// (sum + 6) / 13 for sums up to 13 * 255, as a product with 2^16 / 13 rounded up.
__m256i over_13(__m256i sum) {
  return _mm256_mulhi_epu16(_mm256_add_epi16(sum, _mm256_set1_epi16(6)), _mm256_set1_epi16(5042));
}

__m256i blend(__m128i smooth, __m128i difference, __m256 factor) {
  const __m256 product =
      _mm256_mul_ps(factor, _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(difference)));
  const __m256 sum = _mm256_add_ps(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(smooth)), product);
  // Clipped first: beyond the range of int a conversion would not saturate.
  const __m256 clipped =
      _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(255));
  return _mm256_cvttps_epi32(clipped);
}

// Goes down strips of columns, so that the sums of the rows above are still in registers.
void sharpen_plane(const PlanarTarget& to, const PlanarView& from, int channel, float factor) {
  const __m256 factors = _mm256_set1_ps(factor);
  for (int x = 1; x < from.width - 1; x += kStep) {
    const uint8_t* in = from.row(channel, 0) + x;
    __m256i above = sum_across(in), here = sum_across(in += from.stride);
    uint8_t* out = to.row(channel, 1) + x;
    for (int y = 1; y < from.height - 1; ++y, out += to.stride) {
      const __m256i centre = load_words(in);
      const __m256i below = sum_across(in += from.stride);
      const __m256i nine = _mm256_add_epi16(_mm256_add_epi16(above, here), below);
      const __m256i smooth = over_13(_mm256_add_epi16(nine, _mm256_slli_epi16(centre, 2)));
      const __m256i difference = _mm256_sub_epi16(centre, smooth);
      const __m256i low =
          blend(_mm256_castsi256_si128(smooth), _mm256_castsi256_si128(difference), factors);
      const __m256i high = blend(_mm256_extracti128_si256(smooth, 1),
                                 _mm256_extracti128_si256(difference, 1), factors);
      // Packing works within 128-bit halves; 0 2 1 3 puts the quarters back in order.
      const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0b11011000);
      const __m128i bytes =
          _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
      above = here;
      here = below;
    }
  }
}

}  // namespace

void sharpen_inside(const PlanarTarget& out, const PlanarView& in, float factor) {
  for (int c = 0; c < in.channels; ++c) sharpen_plane(out, in, c, factor);
}

}  // namespace penstock::avx2
