// The arithmetic of hue_avx512.cpp, eight pixels at a time.
#include <immintrin.h>

#include "kernels/colour/variants.h"

namespace penstock::avx2 {
namespace {

constexpr int kStep = 8;

// A colour's levels lie in one 32-bit number: value, p, q and t from the low byte on. These say
// for each channel where its level lies, by sixth of the circle (6 is 0 again).
constexpr int kGrayPlace = 7;
constexpr int kShiftV = 0, kShiftP = 8, kShiftQ = 16, kShiftT = 24;
constexpr int kShifts[3][8] = {
    {kShiftV, kShiftQ, kShiftP, kShiftP, kShiftT, kShiftV, kShiftV, kShiftV},
    {kShiftT, kShiftV, kShiftV, kShiftQ, kShiftP, kShiftP, kShiftT, kShiftV},
    {kShiftP, kShiftP, kShiftT, kShiftV, kShiftV, kShiftQ, kShiftP, kShiftV}};

__m256i load(const uint8_t* at) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
}

/// All numbers must be 0 to 255.
void store(uint8_t* at, __m256i numbers) {
  const __m128i words =
      _mm_packus_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(at), _mm_packus_epi16(words, words));
}

__m256i choose(__m256i where, __m256i yes, __m256i no) {
  return _mm256_blendv_epi8(no, yes, where);
}

/// 8 colours by order of their channels: a hue in sixths of the circle is `start`, plus or (where
/// `sign` is set) minus the share that the middle channel lacks to the greatest of the range.
struct Order {
  __m256i greatest, range, lacking, start, sign;
};

Order order_of(__m256i red, __m256i green, __m256i blue) {
  Order order;
  order.greatest = _mm256_max_epi32(red, _mm256_max_epi32(green, blue));
  const __m256i least = _mm256_min_epi32(red, _mm256_min_epi32(green, blue));
  const __m256i sum = _mm256_add_epi32(red, _mm256_add_epi32(green, blue));
  const __m256i middle = _mm256_sub_epi32(_mm256_sub_epi32(sum, order.greatest), least);
  order.range = _mm256_sub_epi32(order.greatest, least);
  order.lacking = _mm256_sub_epi32(order.greatest, middle);

  const __m256i is_red = _mm256_cmpeq_epi32(red, order.greatest);
  const __m256i is_green = _mm256_cmpeq_epi32(green, order.greatest);
  const __m256i blue_green = _mm256_cmpgt_epi32(blue, green);
  const __m256i blue_red = _mm256_cmpgt_epi32(blue, red);
  const __m256i red_green = _mm256_cmpgt_epi32(red, green);
  const __m256i one = _mm256_set1_epi32(1), three = _mm256_set1_epi32(3);
  const __m256i minus_one = _mm256_set1_epi32(-1);
  // Greatest red: 1 - share or -1 + share; green: 1 + share or 3 - share; blue: 3 + or 5 -.
  const __m256i of_red = choose(blue_green, minus_one, one);
  const __m256i of_green = choose(blue_red, three, one);
  const __m256i of_blue = choose(red_green, _mm256_set1_epi32(5), three);
  order.start = choose(is_red, of_red, choose(is_green, of_green, of_blue));
  const __m256i backwards = choose(is_red, _mm256_xor_si256(blue_green, minus_one),
                                   choose(is_green, blue_red, red_green));
  order.sign = _mm256_slli_epi32(backwards, 31);
  return order;
}

/// Hues, 0 to 255; undefined where the range is 0.
__m256i hue_of(const Order& order, __m256 range) {
  const __m256 share = _mm256_div_ps(_mm256_cvtepi32_ps(order.lacking), range);
  const __m256 signed_share = _mm256_xor_ps(share, _mm256_castsi256_ps(order.sign));
  const __m256 sixths = _mm256_add_ps(_mm256_cvtepi32_ps(order.start), signed_share);

  // The division by six, correctly rounded.
  const __m256 sixth = _mm256_set1_ps(1 / 6.0f);
  const __m256 about = _mm256_mul_ps(sixths, sixth);
  const __m256 error = _mm256_fnmadd_ps(about, _mm256_set1_ps(6.0f), sixths);
  const __m256 hue = _mm256_fmadd_ps(error, sixth, about);
  const __m256 negative = _mm256_cmp_ps(sixths, _mm256_setzero_ps(), _CMP_LT_OQ);
  const __m256 turned = _mm256_add_ps(hue, _mm256_and_ps(negative, _mm256_set1_ps(1.0f)));
  return _mm256_cvttps_epi32(_mm256_mul_ps(turned, _mm256_set1_ps(255.0f)));
}

}  // namespace

void turn_hue(const PlanarTarget& image, uint8_t turn_by) {
  const __m256i by = _mm256_set1_epi32(turn_by);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      uint8_t* const at[3] = {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x};
      const Order order = order_of(load(at[0]), load(at[1]), load(at[2]));
      const __m256 value = _mm256_cvtepi32_ps(order.greatest);
      const __m256 range = _mm256_cvtepi32_ps(order.range);
      const __m256i saturation =
          _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_div_ps(range, value), _mm256_set1_ps(255.0f)));
      const __m256i hue =
          _mm256_and_si256(_mm256_add_epi32(hue_of(order, range), by), _mm256_set1_epi32(255));
      // sixth = 2 * hue / 85, and what is left of it in 85ths.
      const __m256i sixth = _mm256_mulhi_epu16(hue, _mm256_set1_epi32(1544));
      const __m256i left = _mm256_sub_epi32(_mm256_add_epi32(hue, hue),
                                            _mm256_mullo_epi16(sixth, _mm256_set1_epi32(85)));

      const __m256 f = _mm256_mul_ps(_mm256_cvtepi32_ps(left), _mm256_set1_ps(1 / 85.0f));
      const __m256 s = _mm256_mul_ps(_mm256_cvtepi32_ps(saturation), _mm256_set1_ps(1 / 255.0f));
      const __m256 rounding = _mm256_add_ps(value, _mm256_set1_ps(0.5f));
      const auto less = [&](__m256 part_of_value) {
        return _mm256_cvttps_epi32(_mm256_fnmadd_ps(value, part_of_value, rounding));
      };
      const __m256i p = less(s);
      const __m256i q = less(_mm256_mul_ps(s, f));
      const __m256i t = less(_mm256_fnmadd_ps(s, f, s));

      const __m256i coloured = _mm256_cmpgt_epi32(saturation, _mm256_setzero_si256());
      const __m256i place =
          _mm256_or_si256(sixth, _mm256_andnot_si256(coloured, _mm256_set1_epi32(kGrayPlace)));
      const __m256i levels = _mm256_or_si256(
          _mm256_or_si256(order.greatest, _mm256_slli_epi32(p, kShiftP)),
          _mm256_or_si256(_mm256_slli_epi32(q, kShiftQ), _mm256_slli_epi32(t, kShiftT)));
      for (int c = 0; c < 3; ++c) {
        const __m256i shifts = _mm256_permutevar8x32_epi32(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kShifts[c])), place);
        store(at[c], _mm256_and_si256(_mm256_srlv_epi32(levels, shifts), _mm256_set1_epi32(255)));
      }
    }
}

}  // namespace penstock::avx2
