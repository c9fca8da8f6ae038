#include <immintrin.h>

#include "kernels/colour/blend_steps.h"
#include "kernels/colour/lookup_avx512.h"
#include "kernels/colour/luma.h"
#include "kernels/colour/variants.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 64;

__m512i pair(int low, int high) { return _mm512_set1_epi32((high << 16) | (low & 0xffff)); }

/// 16 pixels from words (red, green) and (blue, 2).
__m512i luma_less_green(__m512i red_green, __m512i blue_two) {
  const __m512i sum =
      _mm512_dpwssd_epi32(_mm512_madd_epi16(red_green, pair(kLumaRed, kLumaGreenLessOne)), blue_two,
                          pair(kLumaBlue, kLumaHalf / 2));
  return _mm512_srai_epi32(sum, 16);
}

/// 32 pixels in words.
__m512i luma_words(__m512i red, __m512i green, __m512i blue) {
  const __m512i two = _mm512_set1_epi16(2);
  const __m512i low =
      luma_less_green(_mm512_unpacklo_epi16(red, green), _mm512_unpacklo_epi16(blue, two));
  const __m512i high =
      luma_less_green(_mm512_unpackhi_epi16(red, green), _mm512_unpackhi_epi16(blue, two));
  return _mm512_add_epi16(_mm512_packs_epi32(low, high), green);
}

__m512i luma(__m512i red, __m512i green, __m512i blue) {
  const __m512i zero = _mm512_setzero_si512();
  // Unpacking and packing stay within 128 bits both ways, so the order comes out right.
  const __m512i low = luma_words(_mm512_unpacklo_epi8(red, zero), _mm512_unpacklo_epi8(green, zero),
                                 _mm512_unpacklo_epi8(blue, zero));
  const __m512i high =
      luma_words(_mm512_unpackhi_epi8(red, zero), _mm512_unpackhi_epi8(green, zero),
                 _mm512_unpackhi_epi8(blue, zero));
  return _mm512_packus_epi16(low, high);
}

/// Sums `luma_at(y, x)`, which gives 64 pixels.
template <class LumaAt>
uint64_t sum_of(const PlanarView& image, LumaAt luma_at) {
  const __m512i zero = _mm512_setzero_si512();
  __m512i sum = zero;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      const __m512i inside = _mm512_maskz_mov_epi8(first_bytes(image.width - x), luma_at(y, x));
      sum = _mm512_add_epi64(sum, _mm512_sad_epu8(inside, zero));
    }
  return static_cast<uint64_t>(_mm512_reduce_add_epi64(sum));
}

struct Stored {
  __m512i operator()(__m512i levels) const { return levels; }
};

template <class Map>
uint64_t sum_mapped(const PlanarView& image, const Map& red, const Map& green, const Map& blue) {
  const auto load = [&](int c, int y, int x) { return _mm512_loadu_si512(image.row(c, y) + x); };
  if (image.channels == 1) return sum_of(image, [&](int y, int x) { return red(load(0, y, x)); });
  return sum_of(image, [&](int y, int x) {
    return luma(red(load(0, y, x)), green(load(1, y, x)), blue(load(2, y, x)));
  });
}

/// Two lookups of distances, of which those of 128 and more are rare.
class Steps {
 public:
  Steps(const BlendSteps& steps, bool reverse) : up_(steps.up), down_(steps.down) {
    reverse_ = reverse ? ~__mmask64{0} : 0;
  }

  __m512i blend(__m512i gray, __m512i level) const {
    const __m512i distance =
        _mm512_sub_epi8(_mm512_max_epu8(gray, level), _mm512_min_epu8(gray, level));
    const __mmask64 upwards = _mm512_cmpge_epu8_mask(level, gray) ^ reverse_;
    __m512i up = _mm512_permutex2var_epi8(up_.quarter[0], distance, up_.quarter[1]);
    __m512i down = _mm512_permutex2var_epi8(down_.quarter[0], distance, down_.quarter[1]);
    if (_mm512_movepi8_mask(distance) != 0) {
      up = up_(distance);
      down = down_(distance);
    }
    return _mm512_mask_adds_epu8(_mm512_subs_epu8(gray, down), upwards, gray, up);
  }

 private:
  Lookup512 up_, down_;
  __mmask64 reverse_;
};

}  // namespace

uint64_t sum_luma(const PlanarView& image, const Lut* table) {
  if (table == nullptr) return sum_mapped(image, Stored{}, Stored{}, Stored{});
  return sum_mapped(image, Lookup512(table->value[0]), Lookup512(table->value[1]),
                    Lookup512(table->value[2]));
}

void to_gray(const PlanarTarget& out, const PlanarView& in) {
  for (int y = 0; y < in.height; ++y) {
    uint8_t* gray = out.row(0, y);
    const uint8_t* red = in.row(0, y);
    const uint8_t* green = in.row(1, y);
    const uint8_t* blue = in.row(2, y);
    for (int x = 0; x < in.width; x += kStep)
      _mm512_storeu_si512(gray + x, luma(_mm512_loadu_si512(red + x), _mm512_loadu_si512(green + x),
                                         _mm512_loadu_si512(blue + x)));
  }
}

void saturate(const PlanarTarget& image, float factor) {
  BlendSteps tables;
  if (!make_blend_steps(tables, factor)) {
    avx2::saturate(image, factor);
    return;
  }
  // A negative factor turns colours to their opposites.
  const Steps steps(tables, factor < 0);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      uint8_t* const at[3] = {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x};
      const __m512i red = _mm512_loadu_si512(at[0]);
      const __m512i green = _mm512_loadu_si512(at[1]);
      const __m512i blue = _mm512_loadu_si512(at[2]);
      const __m512i gray = luma(red, green, blue);
      _mm512_storeu_si512(at[0], steps.blend(gray, red));
      _mm512_storeu_si512(at[1], steps.blend(gray, green));
      _mm512_storeu_si512(at[2], steps.blend(gray, blue));
    }
}

}  // namespace penstock::avx512
