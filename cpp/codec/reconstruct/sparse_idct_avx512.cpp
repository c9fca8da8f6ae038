// The inverse DCT of sparse blocks, four at once, without a detour through memory.
#include "codec/reconstruct.h"
#include "codec/reconstruct/idct_lanes.h"
#include "codec/zigzag.h"

namespace penstock::avx512 {
namespace {

constexpr Bytes zigzag_positions() {
  Bytes index{};
  for (int position = 0; position < 64; ++position)
    index.at[kNaturalOrder[position]] = static_cast<uint8_t>(position);
  return index;
}

alignas(64) constexpr Bytes kZigzagPositions = zigzag_positions();

/// From the first 16 zigzag positions of each lane to rows (0, 1) or (2, 3) of the natural order.
constexpr Bytes first_rows(int first) {
  constexpr uint8_t kNone = 0x80;
  Bytes index{};
  for (uint8_t& byte : index.at) byte = kNone;
  for (int lane = 0; lane < 4; ++lane)
    for (int position = 0; position < kFourRowsEnd; ++position) {
      const int place = kNaturalOrder[position] - 8 * first;
      if (place >= 0 && place < 16) index.at[16 * lane + place] = static_cast<uint8_t>(position);
    }
  return index;
}

alignas(64) constexpr Bytes kFirstRows[2] = {first_rows(0), first_rows(2)};

/// Word 0 of each lane is word i of the source, where i is the lane.
constexpr Words first_of_lane() {
  Words index{};
  for (int lane = 0; lane < 4; ++lane) index.at[8 * lane] = static_cast<uint16_t>(lane);
  return index;
}

alignas(64) constexpr Words kFirstOfLane = first_of_lane();
constexpr __mmask32 kFirstWords = 0x01010101;

/// Bytes of four blocks in natural order: two rows of each in every register.
[[gnu::always_inline]] inline void expand(V (&rows)[4], const SparseBlocks& blocks, int block,
                                          const int8_t* values) {
  const V natural = _mm512_load_si512(&kZigzagPositions);
  V bytes[4];
  for (int b = 0; b < 4; ++b) {
    const V next = _mm512_loadu_si512(values + blocks.first[block + b]);
    bytes[b] =
        _mm512_permutexvar_epi8(natural, _mm512_maskz_expand_epi8(blocks.mask[block + b], next));
  }
  gather_rows(rows, bytes);
}

/// Rows of words from bytes that are sign-extended.
[[gnu::always_inline]] inline void load_narrow(V (&x)[8], const SparseBlocks& blocks, int block) {
  V rows[4];
  expand(rows, blocks, block, blocks.values);
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = _mm512_srai_epi16(_mm512_unpacklo_epi8(rows[i], rows[i]), 8);
    x[2 * i + 1] = _mm512_srai_epi16(_mm512_unpackhi_epi8(rows[i], rows[i]), 8);
  }
}

[[gnu::always_inline]] inline void load_wide(V (&x)[8], const SparseBlocks& blocks, int block) {
  V low[4], high[4];
  expand(low, blocks, block, blocks.values);
  expand(high, blocks, block, blocks.high);
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = _mm512_unpacklo_epi8(low[i], high[i]);
    x[2 * i + 1] = _mm512_unpackhi_epi8(low[i], high[i]);
  }
}

/// Rows 0 to 3 of blocks without any later position than kFourRowsEnd - 1.
[[gnu::always_inline]] inline void load_four_rows(V (&x)[8], const SparseBlocks& blocks,
                                                  int block) {
  __m128i bytes[4];
  for (int b = 0; b < 4; ++b) {
    const int8_t* next = blocks.values + blocks.first[block + b];
    bytes[b] = _mm_maskz_expand_epi8(static_cast<__mmask16>(blocks.mask[block + b]),
                                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(next)));
  }
  const V zigzag = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(bytes[1], bytes[0])),
                                      _mm256_set_m128i(bytes[3], bytes[2]), 1);
  for (int i = 0; i < 2; ++i) {
    const V rows = _mm512_shuffle_epi8(zigzag, _mm512_load_si512(&kFirstRows[i]));
    x[2 * i] = _mm512_srai_epi16(_mm512_unpacklo_epi8(rows, rows), 8);
    x[2 * i + 1] = _mm512_srai_epi16(_mm512_unpackhi_epi8(rows, rows), 8);
  }
}

[[gnu::always_inline]] inline V quant_row(const uint16_t* quant, int y) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(quant + 8 * y)));
}

/// Puts the first coefficients in, and dequantises `count` rows.
[[gnu::always_inline]] inline void dequantise(V (&x)[8], const SparseBlocks& blocks, int block,
                                              const uint16_t* quant, int count) {
  const V dc =
      _mm512_castsi128_si512(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(blocks.dc + block)));
  x[0] = _mm512_mask_permutexvar_epi16(x[0], kFirstWords, _mm512_load_si512(&kFirstOfLane), dc);
  for (int y = 0; y < count; ++y) x[y] = _mm512_mullo_epi16(x[y], quant_row(quant, y));
}

}  // namespace

void sparse_idct(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks, int first,
                 const uint16_t* quant, bool centred) {
  const V offset = _mm512_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  const uint64_t* mask = blocks.mask + first;
  V x[8];
  if ((mask[0] | mask[1] | mask[2] | mask[3]) >> kFourRowsEnd == 0 && blocks.high == nullptr) {
    load_four_rows(x, blocks, first);
    dequantise(x, blocks, first, quant, 4);
    if (is_in_range(x[0])) [[likely]]
      return transform_four_rows(plane, stride, x, offset);
  } else {
    if (blocks.high == nullptr)
      load_narrow(x, blocks, first);
    else
      load_wide(x, blocks, first);
    dequantise(x, blocks, first, quant, 8);
    if (is_in_range(x[0])) [[likely]]
      return transform_rows(plane, stride, x, offset);
  }
  scalar::sparse_idct(plane, stride, blocks, first, quant, centred);
}

}  // namespace penstock::avx512
