// In single precision throughout. It gives Pillow's levels for every colour and turn: a hue is one
// of some 200,000 combinations of range, distance and order, a colour back one of 2^24 of hue,
// saturation and value, and the tests compare them all with the scalar kernel.
#include <immintrin.h>

#include "kernels/colour/variants.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 64;
constexpr int kParts = 4;  // of 16 pixels each

/// The bytes of part `part` as 32-bit numbers.
__m512i part_of(__m512i bytes, int part) {
  const __m512i four_of_each =
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i index = _mm512_add_epi32(four_of_each, _mm512_set1_epi32(16 * part));
  return _mm512_maskz_permutexvar_epi8(0x1111111111111111, index, bytes);
}

__m512 floats_of(__m512i numbers) { return _mm512_cvtepi32_ps(numbers); }

/// The bytes of 64 numbers, all of which must be 0 to 255.
__m512i bytes_of(const __m512i (&parts)[kParts]) {
  const __m512i low = _mm512_packus_epi32(parts[0], parts[1]);
  const __m512i high = _mm512_packus_epi32(parts[2], parts[3]);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
}

/// 64 colours by order of their channels: a hue in sixths of the circle is its start, plus or
/// (where `backwards`) minus the share that the middle channel lacks to the greatest of the range.
struct Order {
  __m512i greatest, range, lacking, start_plus_one;
  __mmask64 backwards;
};

Order order_of(__m512i red, __m512i green, __m512i blue) {
  Order order;
  order.greatest = _mm512_max_epu8(red, _mm512_max_epu8(green, blue));
  const __m512i least = _mm512_min_epu8(red, _mm512_min_epu8(green, blue));
  const __m512i sum = _mm512_add_epi8(red, _mm512_add_epi8(green, blue));
  const __m512i middle = _mm512_sub_epi8(_mm512_sub_epi8(sum, order.greatest), least);
  order.range = _mm512_sub_epi8(order.greatest, least);
  order.lacking = _mm512_sub_epi8(order.greatest, middle);

  const __mmask64 is_red = _mm512_cmpeq_epi8_mask(red, order.greatest);
  const __mmask64 is_green = ~is_red & _mm512_cmpeq_epi8_mask(green, order.greatest);
  const __mmask64 green_blue = _mm512_cmpge_epu8_mask(green, blue);
  const __mmask64 blue_red = ~_mm512_cmpge_epu8_mask(red, blue);
  const __mmask64 red_green = ~_mm512_cmpge_epu8_mask(green, red);
  // Greatest red: 1 - share or -1 + share; green: 1 + share or 3 - share; blue: 3 + or 5 -.
  order.backwards =
      (is_red & green_blue) | (is_green & blue_red) | (~is_red & ~is_green & red_green);
  __m512i start = _mm512_mask_blend_epi8(red_green, _mm512_set1_epi8(4), _mm512_set1_epi8(6));
  start = _mm512_mask_mov_epi8(start, is_green, _mm512_set1_epi8(2));
  start = _mm512_mask_mov_epi8(start, is_green & blue_red, _mm512_set1_epi8(4));
  start = _mm512_mask_mov_epi8(start, is_red, _mm512_setzero_si512());
  order.start_plus_one = _mm512_mask_mov_epi8(start, is_red & green_blue, _mm512_set1_epi8(2));
  return order;
}

/// 16 hues, 0 to 255; undefined where the range is 0.
__m512i hue_of(const Order& order, int part, __m512 range) {
  const __m512 share = _mm512_div_ps(floats_of(part_of(order.lacking, part)), range);
  const __m512 from =
      _mm512_sub_ps(floats_of(part_of(order.start_plus_one, part)), _mm512_set1_ps(1.0f));
  const auto backwards = static_cast<__mmask16>(order.backwards >> (16 * part));
  const __m512 sixths = _mm512_mask_sub_ps(_mm512_add_ps(from, share), backwards, from, share);

  // The division by six, correctly rounded.
  const __m512 sixth = _mm512_set1_ps(1 / 6.0f);
  const __m512 about = _mm512_mul_ps(sixths, sixth);
  const __m512 error = _mm512_fnmadd_ps(about, _mm512_set1_ps(6.0f), sixths);
  __m512 hue = _mm512_fmadd_ps(error, sixth, about);
  const __mmask16 negative = _mm512_cmp_ps_mask(sixths, _mm512_setzero_ps(), _CMP_LT_OQ);
  hue = _mm512_mask_add_ps(hue, negative, hue, _mm512_set1_ps(1.0f));
  return _mm512_cvttps_epi32(_mm512_mul_ps(hue, _mm512_set1_ps(255.0f)));
}

/// 64 colours: each channel is `value` or one of the others, by `sixth` of the circle (0 to 6).
struct Turned {
  __m512i sixth, saturation, p, q, t;
};

Turned turn(const Order& order, __m512i by) {
  __m512i sixth[kParts], saturation[kParts], p[kParts], q[kParts], t[kParts];
  for (int part = 0; part < kParts; ++part) {
    const __m512 value = floats_of(part_of(order.greatest, part));
    const __m512 range = floats_of(part_of(order.range, part));
    saturation[part] =
        _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_div_ps(range, value), _mm512_set1_ps(255.0f)));
    const __m512i hue =
        _mm512_and_si512(_mm512_add_epi32(hue_of(order, part, range), by), _mm512_set1_epi32(255));
    // sixth = 2 * hue / 85, and what is left of it in 85ths.
    sixth[part] = _mm512_mulhi_epu16(hue, _mm512_set1_epi32(1544));
    const __m512i left = _mm512_sub_epi32(_mm512_add_epi32(hue, hue),
                                          _mm512_mullo_epi16(sixth[part], _mm512_set1_epi32(85)));

    const __m512 f = _mm512_mul_ps(floats_of(left), _mm512_set1_ps(1 / 85.0f));
    const __m512 s = _mm512_mul_ps(floats_of(saturation[part]), _mm512_set1_ps(1 / 255.0f));
    const __m512 rounding = _mm512_add_ps(value, _mm512_set1_ps(0.5f));
    const auto less = [&](__m512 part_of_value) {
      return _mm512_cvttps_epi32(_mm512_fnmadd_ps(value, part_of_value, rounding));
    };
    p[part] = less(s);
    q[part] = less(_mm512_mul_ps(s, f));
    t[part] = less(_mm512_fnmadd_ps(s, f, s));
  }
  return {bytes_of(sixth), bytes_of(saturation), bytes_of(p), bytes_of(q), bytes_of(t)};
}

}  // namespace

void turn_hue(const PlanarTarget& image, uint8_t turn_by) {
  const __m512i by = _mm512_set1_epi32(turn_by);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      uint8_t* const at[3] = {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x};
      const Order order =
          order_of(_mm512_loadu_si512(at[0]), _mm512_loadu_si512(at[1]), _mm512_loadu_si512(at[2]));
      const Turned turned = turn(order, by);
      const __m512i v = order.greatest;
      __mmask64 in_sixth[6];
      for (int i = 0; i < 6; ++i)
        in_sixth[i] = _mm512_cmpeq_epi8_mask(turned.sixth, _mm512_set1_epi8(static_cast<char>(i)));
      in_sixth[0] |= _mm512_cmpeq_epi8_mask(turned.sixth, _mm512_set1_epi8(6));
      // Black has no saturation to speak of (0 / 0), which packing has made 0.
      const __mmask64 coloured = _mm512_test_epi8_mask(turned.saturation, turned.saturation);
      const auto channel = [&](__mmask64 is_p, __mmask64 is_q, __mmask64 is_t) {
        __m512i levels = _mm512_mask_mov_epi8(v, is_p & coloured, turned.p);
        levels = _mm512_mask_mov_epi8(levels, is_q & coloured, turned.q);
        return _mm512_mask_mov_epi8(levels, is_t & coloured, turned.t);
      };
      _mm512_storeu_si512(at[0], channel(in_sixth[2] | in_sixth[3], in_sixth[1], in_sixth[4]));
      _mm512_storeu_si512(at[1], channel(in_sixth[4] | in_sixth[5], in_sixth[3], in_sixth[0]));
      _mm512_storeu_si512(at[2], channel(in_sixth[0] | in_sixth[1], in_sixth[5], in_sixth[2]));
    }
}

}  // namespace penstock::avx512
