// The inverse DCT of sparse blocks, four at once, without a detour through memory.
#if defined(__x86_64__)

#include "codec/reconstruct/idct_lanes_avx512.h"
#include "codec/sparse_idct.h"
#include "codec/zigzag.h"

namespace penstock {
namespace {

constexpr Bytes zigzag_positions() {
  Bytes index{};
  for (int position = 0; position < 64; ++position)
    index.at[kNaturalOrder[position]] = static_cast<uint8_t>(position);
  return index;
}

alignas(64) constexpr Bytes kZigzagPositions = zigzag_positions();

/// Word 0 of each lane is word i of the source, where i is the lane.
constexpr Words first_of_lane() {
  Words index{};
  for (int lane = 0; lane < 4; ++lane) index.at[8 * lane] = static_cast<uint16_t>(lane);
  return index;
}

alignas(64) constexpr Words kFirstOfLane = first_of_lane();
constexpr __mmask32 kFirstWords = 0x01010101;

/// A row of the four blocks, from the high bytes of words.
[[gnu::always_inline]] inline V sign_extend(V words) { return _mm512_srai_epi16(words, 8); }

[[gnu::always_inline]] inline V quant_row(const uint16_t* quant, int y) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(quant + 8 * y)));
}

}  // namespace

void sparse_idct_avx512(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks, int first,
                        int count, const uint16_t* quant, bool centred) {
  const V offset = _mm512_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  const V zero = _mm512_setzero_si512();
  const V natural = _mm512_load_si512(&kZigzagPositions);
  const V dc_index = _mm512_load_si512(&kFirstOfLane);
  for (int done = 0; done < count; done += 4, plane += 4 * 8) {
    const int block = first + done;
    V bytes[4], rows[4], x[8];
    for (int b = 0; b < 4; ++b) {
      const V values = _mm512_loadu_si512(blocks.values + blocks.first[block + b]);
      bytes[b] = _mm512_permutexvar_epi8(natural,
                                         _mm512_maskz_expand_epi8(blocks.mask[block + b], values));
    }
    gather_rows(rows, bytes);
    for (int i = 0; i < 4; ++i) {
      x[2 * i] = sign_extend(_mm512_unpacklo_epi8(zero, rows[i]));
      x[2 * i + 1] = sign_extend(_mm512_unpackhi_epi8(zero, rows[i]));
    }
    const V dc = _mm512_castsi128_si512(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(blocks.dc + block)));
    x[0] = _mm512_mask_permutexvar_epi16(x[0], kFirstWords, dc_index, dc);
    for (int y = 0; y < 8; ++y) x[y] = _mm512_mullo_epi16(x[y], quant_row(quant, y));
    if (!transform_rows(plane, stride, x, offset))
      sparse_idct_scalar(plane, stride, blocks, block, 4, quant, centred);
  }
}

}  // namespace penstock

#endif
