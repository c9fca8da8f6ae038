#include <immintrin.h>

#include "kernels/colour/lookup_avx2.h"
#include "kernels/colour/luma.h"
#include "kernels/colour/variants.h"

namespace penstock::avx2 {
namespace {

constexpr int kStep = 32;

/// 32 values of 8 bits as words. Unpacking and packing stay within 128 bits both ways, so the
/// order comes out right.
struct Words {
  __m256i low, high;
};

__m256i load(const uint8_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }

void store(uint8_t* at, __m256i bytes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), bytes);
}

Words words_of(__m256i bytes) {
  const __m256i zero = _mm256_setzero_si256();
  return {_mm256_unpacklo_epi8(bytes, zero), _mm256_unpackhi_epi8(bytes, zero)};
}

__m256i pair(int low, int high) { return _mm256_set1_epi32((high << 16) | (low & 0xffff)); }

/// 8 pixels from words (red, green) and (blue, 2).
__m256i luma_less_green(__m256i red_green, __m256i blue_two) {
  const __m256i sum =
      _mm256_add_epi32(_mm256_madd_epi16(red_green, pair(kLumaRed, kLumaGreenLessOne)),
                       _mm256_madd_epi16(blue_two, pair(kLumaBlue, kLumaHalf / 2)));
  return _mm256_srai_epi32(sum, 16);
}

/// 16 pixels.
__m256i luma_words(__m256i red, __m256i green, __m256i blue) {
  const __m256i two = _mm256_set1_epi16(2);
  const __m256i low =
      luma_less_green(_mm256_unpacklo_epi16(red, green), _mm256_unpacklo_epi16(blue, two));
  const __m256i high =
      luma_less_green(_mm256_unpackhi_epi16(red, green), _mm256_unpackhi_epi16(blue, two));
  return _mm256_add_epi16(_mm256_packs_epi32(low, high), green);
}

Words luma(const Words& red, const Words& green, const Words& blue) {
  return {luma_words(red.low, green.low, blue.low), luma_words(red.high, green.high, blue.high)};
}

__m256i luma_bytes(__m256i red, __m256i green, __m256i blue) {
  const Words gray = luma(words_of(red), words_of(green), words_of(blue));
  return _mm256_packus_epi16(gray.low, gray.high);
}

/// Sums `luma_at(y, x)`, which gives 32 pixels.
template <class LumaAt>
uint64_t sum_of(const PlanarView& image, LumaAt luma_at) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sum = zero;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      const __m256i inside = _mm256_and_si256(first_bytes(image.width - x), luma_at(y, x));
      sum = _mm256_add_epi64(sum, _mm256_sad_epu8(inside, zero));
    }
  alignas(32) uint64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), sum);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

struct Stored {
  __m256i operator()(__m256i levels) const { return levels; }
};

template <class Map>
uint64_t sum_mapped(const PlanarView& image, const Map& red, const Map& green, const Map& blue) {
  const auto at = [&](int c, int y, int x) { return load(image.row(c, y) + x); };
  if (image.channels == 1) return sum_of(image, [&](int y, int x) { return red(at(0, y, x)); });
  return sum_of(image, [&](int y, int x) {
    return luma_bytes(red(at(0, y, x)), green(at(1, y, x)), blue(at(2, y, x)));
  });
}

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

__m256i blend(const Words& gray, const Words& level, __m256 factor) {
  return _mm256_packus_epi16(blend_words(gray.low, level.low, factor),
                             blend_words(gray.high, level.high, factor));
}

}  // namespace

uint64_t sum_luma(const PlanarView& image, const Lut* table) {
  if (table == nullptr) return sum_mapped(image, Stored{}, Stored{}, Stored{});
  return sum_mapped(image, Lookup256(table->value[0]), Lookup256(table->value[1]),
                    Lookup256(table->value[2]));
}

void to_gray(const PlanarTarget& out, const PlanarView& in) {
  for (int y = 0; y < in.height; ++y) {
    uint8_t* gray = out.row(0, y);
    const uint8_t* red = in.row(0, y);
    const uint8_t* green = in.row(1, y);
    const uint8_t* blue = in.row(2, y);
    for (int x = 0; x < in.width; x += kStep)
      store(gray + x, luma_bytes(load(red + x), load(green + x), load(blue + x)));
  }
}

void saturate(const PlanarTarget& image, float factor) {
  const __m256 factors = _mm256_set1_ps(factor);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      uint8_t* const at[3] = {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x};
      const Words red = words_of(load(at[0]));
      const Words green = words_of(load(at[1]));
      const Words blue = words_of(load(at[2]));
      const Words gray = luma(red, green, blue);
      store(at[0], blend(gray, red, factors));
      store(at[1], blend(gray, green, factors));
      store(at[2], blend(gray, blue, factors));
    }
}

}  // namespace penstock::avx2
