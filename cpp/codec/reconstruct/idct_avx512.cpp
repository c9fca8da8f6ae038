// The inverse DCT of rows of blocks, four at once.
#include "codec/reconstruct/idct_avx512.h"

namespace penstock::avx512 {
namespace {

/// From rows 0 to 3 of a block in a and 4 to 7 in b: the pairs of one group of rows, of which each
/// lane has one of four columns.
constexpr Words pairs_of_block(int group) {
  Words index{};
  for (int i = 0; i < 32; ++i)
    index.at[i] = static_cast<uint16_t>(paired_place(group, i / 16, i / 8 % 2, i % 8));
  return index;
}

alignas(64) constexpr Words kPairsOfBlock[2] = {pairs_of_block(0), pairs_of_block(1)};

/// Lane i of four blocks becomes register i.
[[gnu::always_inline]] inline void gather_lanes(V* lanes, const V (&blocks)[4]) {
  const V first01 = _mm512_shuffle_i32x4(blocks[0], blocks[1], 0x44);
  const V first23 = _mm512_shuffle_i32x4(blocks[2], blocks[3], 0x44);
  const V last01 = _mm512_shuffle_i32x4(blocks[0], blocks[1], 0xEE);
  const V last23 = _mm512_shuffle_i32x4(blocks[2], blocks[3], 0xEE);
  lanes[0] = _mm512_shuffle_i32x4(first01, first23, 0x88);
  lanes[1] = _mm512_shuffle_i32x4(first01, first23, 0xDD);
  lanes[2] = _mm512_shuffle_i32x4(last01, last23, 0x88);
  lanes[3] = _mm512_shuffle_i32x4(last01, last23, 0xDD);
}

}  // namespace

void idct_row(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
              const uint16_t* quant, bool centred) {
  const V quant_top = _mm512_loadu_si512(quant), quant_bottom = _mm512_loadu_si512(quant + 32);
  const V offset = _mm512_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  for (int done = 0; done < blocks; done += 4, coefficients += 4 * 64, plane += 4 * 8) {
    V pairs[2][4];
    for (int b = 0; b < 4; ++b) {
      const V top = _mm512_mullo_epi16(_mm512_load_si512(coefficients + 64 * b), quant_top);
      const V bottom =
          _mm512_mullo_epi16(_mm512_load_si512(coefficients + 64 * b + 32), quant_bottom);
      for (int group = 0; group < 2; ++group)
        pairs[group][b] =
            _mm512_permutex2var_epi16(top, _mm512_load_si512(&kPairsOfBlock[group]), bottom);
    }
    V x[8];
    gather_lanes(x, pairs[0]);
    gather_lanes(x + 4, pairs[1]);
    if (is_in_range(x[0]) && is_in_range(x[1])) [[likely]] {
      transform_pairs(plane, stride, {x[0], x[2], x[4], x[6]}, {x[1], x[3], x[5], x[7]}, offset);
    } else {
      for (int b = 0; b < 4; ++b)
        scalar::idct_block(plane + 8 * b, stride, coefficients + 64 * b, quant, centred);
    }
    for (int i = 0; i < 8; ++i) _mm512_store_si512(coefficients + 32 * i, _mm512_setzero_si512());
  }
}

}  // namespace penstock::avx512
