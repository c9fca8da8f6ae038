#include <immintrin.h>

#include <array>

#include "codec/zigzag.h"
#include "tiles/layout.h"
#include "tiles/tile_values.h"

namespace penstock::avx512 {
namespace {

constexpr std::array<int16_t, 64> kOrder = [] {
  std::array<int16_t, 64> order{};
  for (int k = 0; k < 64; ++k) order[k] = kNaturalOrder[k];
  return order;
}();

/// Of 32 values: those marked, one after the other, to the front.
int16_t* put_marked(int16_t* values, __m512i all, __mmask32 marked) {
  _mm512_storeu_si512(values, _mm512_maskz_compress_epi16(marked, all));
  return values + _mm_popcnt_u32(marked);
}

/// How many bits of each byte are set.
__m512i bits_set(__m512i bytes) {
  const __m512i of_nibble =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i nibble = _mm512_set1_epi8(15);
  const __m512i low = _mm512_shuffle_epi8(of_nibble, _mm512_and_si512(bytes, nibble));
  const __m512i high =
      _mm512_shuffle_epi8(of_nibble, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble));
  return _mm512_add_epi8(low, high);
}

}  // namespace

int list_values(int16_t* values, uint64_t* masks, const int16_t* blocks, int count) {
  const __m512i low_order = _mm512_loadu_si512(kOrder.data());
  const __m512i high_order = _mm512_loadu_si512(kOrder.data() + 32);
  int16_t* next = values;
  for (int i = 0; i < count; ++i, blocks += 64) {
    const __m512i top = _mm512_loadu_si512(blocks);
    const __m512i bottom = _mm512_loadu_si512(blocks + 32);
    const __m512i low = _mm512_permutex2var_epi16(top, low_order, bottom);
    const __m512i high = _mm512_permutex2var_epi16(top, high_order, bottom);
    const __mmask32 in_low = _mm512_test_epi16_mask(low, low);
    const __mmask32 in_high = _mm512_test_epi16_mask(high, high);
    masks[i] = uint64_t{in_low} | uint64_t{in_high} << 32;
    next = put_marked(next, low, in_low & ~__mmask32{1});
    if (in_high != 0) next = put_marked(next, high, in_high);
  }
  return static_cast<int>(next - values);
}

int spell_values(uint8_t* lengths, uint16_t* bits, const int16_t* values, int count) {
  __m512i all = _mm512_setzero_si512();
  for (int i = 0; i < count; i += 32) {
    const __m512i value = _mm512_loadu_si512(values + i);
    // Every bit below the highest one of the magnitude is set, too: a mask of the additional bits.
    __m512i below = _mm512_abs_epi16(value);
    for (const int shift : {1, 2, 4, 8})
      below = _mm512_or_si512(below, _mm512_srl_epi16(below, _mm_cvtsi32_si128(shift)));
    const __m512i spelled = _mm512_add_epi16(value, _mm512_srai_epi16(value, 15));
    _mm512_storeu_si512(bits + i, _mm512_and_si512(spelled, below));
    const __m512i of_bytes = bits_set(below);
    const __m512i length = _mm512_add_epi16(_mm512_and_si512(of_bytes, _mm512_set1_epi16(255)),
                                            _mm512_srli_epi16(of_bytes, 8));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lengths + i), _mm512_cvtepi16_epi8(length));
    const int left = count - i;
    all = _mm512_or_si512(all, left < 32 ? _mm512_maskz_mov_epi16((1u << left) - 1, below) : below);
  }
  const auto longest = static_cast<unsigned>(_mm512_reduce_or_epi32(all));
  const unsigned most = (longest | longest >> 16) & 0xFFFF;
  return most == 0 ? 0 : 32 - static_cast<int>(_lzcnt_u32(most));
}

int mark_longer(uint64_t* plane, uint8_t* longer, const uint8_t* lengths, int count, int level) {
  const __m512i short_ones = _mm512_set1_epi8(static_cast<char>(level));
  uint8_t* next = longer;
  for (int i = 0; i < count; i += 64) {
    const __m512i length = _mm512_loadu_si512(lengths + i);
    const int left = count - i;
    const __mmask64 there = left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
    const __mmask64 marked = _mm512_mask_cmpgt_epu8_mask(there, length, short_ones);
    *plane++ = marked;
    // Behind what is listed lies only what was read already.
    _mm512_storeu_si512(next, _mm512_maskz_compress_epi8(marked, length));
    next += _mm_popcnt_u64(marked);
  }
  return static_cast<int>(next - longer);
}

void join_values(uint32_t* joined, uint8_t* widths, const uint16_t* bits, const uint8_t* lengths,
                 int count) {
  const __m512i most = _mm512_set1_epi16(tile_layout::kShortBits);
  const __m512i low_word = _mm512_set1_epi32(0xFFFF);
  const __m512i low_half = _mm512_set1_epi64(0xFFFFFFFF);
  for (int i = 0; i < count; i += 32, joined += 8, widths += 8) {
    const __m512i length =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lengths + i)));
    const __m512i width = _mm512_min_epi16(length, most);
    const __m512i value =
        _mm512_srlv_epi16(_mm512_loadu_si512(bits + i), _mm512_sub_epi16(length, width));
    // Two by two, and once more.
    const __m512i first_width = _mm512_and_si512(width, low_word);
    const __m512i two =
        _mm512_or_si512(_mm512_and_si512(value, low_word),
                        _mm512_sllv_epi32(_mm512_srli_epi32(value, 16), first_width));
    const __m512i two_width = _mm512_add_epi32(first_width, _mm512_srli_epi32(width, 16));
    const __m512i first_two_width = _mm512_and_si512(two_width, low_half);
    const __m512i four =
        _mm512_or_si512(_mm512_and_si512(two, low_half),
                        _mm512_sllv_epi64(_mm512_srli_epi64(two, 32), first_two_width));
    const __m512i four_width = _mm512_add_epi64(first_two_width, _mm512_srli_epi64(two_width, 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(joined), _mm512_cvtepi64_epi32(four));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(widths), _mm512_cvtepi64_epi8(four_width));
  }
}

}  // namespace penstock::avx512
