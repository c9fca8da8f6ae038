// The inverse DCT of sparse blocks, two at once.
#include "codec/expand_table.h"
#include "codec/reconstruct.h"
#include "codec/reconstruct/idct_avx2.h"
#include "codec/zigzag.h"

namespace penstock::avx2 {
namespace {

/// From a quarter of the zigzag order to a quarter (two rows) of the natural one, in both lanes.
struct QuarterShuffles {
  uint8_t at[4][4][32];  // [to][from]
  bool is_needed[4][4];
};

constexpr QuarterShuffles make_quarter_shuffles() {
  QuarterShuffles shuffles{};
  for (auto& to : shuffles.at)
    for (auto& from : to)
      for (uint8_t& index : from) index = kNoByte;
  for (int position = 0; position < 64; ++position) {
    const int place = kNaturalOrder[position];
    const auto index = static_cast<uint8_t>(position % 16);
    uint8_t* shuffle = shuffles.at[place / 16][position / 16];
    shuffle[place % 16] = shuffle[16 + place % 16] = index;
    shuffles.is_needed[place / 16][position / 16] = true;
  }
  return shuffles;
}

alignas(64) constexpr QuarterShuffles kQuarters = make_quarter_shuffles();

/// The next of a block's values, where the lowest byte of the mask wants them.
[[gnu::always_inline]] inline __m128i expand_byte(uint64_t& mask, const int8_t*& values) {
  const auto bits = static_cast<uint8_t>(mask);
  const __m128i index = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kExpand.at[bits]));
  const __m128i next = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values));
  mask >>= 8;
  values += _mm_popcnt_u32(bits);
  return _mm_shuffle_epi8(next, index);
}

[[gnu::always_inline]] inline __m128i expand_quarter(uint64_t& mask, const int8_t*& values) {
  const __m128i low = expand_byte(mask, values);
  return _mm_unpacklo_epi64(low, expand_byte(mask, values));
}

template <int kTo, int kParts>
[[gnu::always_inline]] inline V natural_quarter(const V (&zigzag)[4]) {
  V rows = _mm256_setzero_si256();
  for (int from = 0; from < kParts; ++from) {
    if (!kQuarters.is_needed[kTo][from]) continue;
    const V index = _mm256_load_si256(reinterpret_cast<const V*>(kQuarters.at[kTo][from]));
    rows = _mm256_or_si256(rows, _mm256_shuffle_epi8(zigzag[from], index));
  }
  return rows;
}

/// Bytes of two blocks in natural order: two rows of each in every register. Only the first kParts
/// quarters of the zigzag order are set.
template <int kParts>
[[gnu::always_inline]] inline void expand_parts(V (&rows)[4], const SparseBlocks& blocks, int block,
                                                const int8_t* values) {
  uint64_t mask_a = blocks.mask[block], mask_b = blocks.mask[block + 1];
  const int8_t* values_a = values + blocks.first[block];
  const int8_t* values_b = values + blocks.first[block + 1];
  V zigzag[4];
  for (int i = 0; i < kParts; ++i) {
    const __m128i a = expand_quarter(mask_a, values_a);
    zigzag[i] = _mm256_set_m128i(expand_quarter(mask_b, values_b), a);
  }
  rows[0] = natural_quarter<0, kParts>(zigzag);
  rows[1] = natural_quarter<1, kParts>(zigzag);
  rows[2] = natural_quarter<2, kParts>(zigzag);
  rows[3] = natural_quarter<3, kParts>(zigzag);
}

[[gnu::always_inline]] inline void expand_two(V (&rows)[4], const SparseBlocks& blocks, int block,
                                              const int8_t* values) {
  if ((blocks.mask[block] | blocks.mask[block + 1]) >> 32 == 0)
    expand_parts<2>(rows, blocks, block, values);
  else
    expand_parts<4>(rows, blocks, block, values);
}

[[gnu::always_inline]] inline V quant_row(const SparseQuant& quant, int y) {
  return _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(quant.natural + 8 * y)));
}

/// Dequantised rows 2 * i and 2 * i + 1, from bytes. Requires that quantisers are bytes.
[[gnu::always_inline]] inline void dequantise_bytes(V* x, V rows, const SparseQuant& quant, int i) {
  const V zero = _mm256_setzero_si256();
  x[2 * i] = _mm256_maddubs_epi16(quant_row(quant, 2 * i), _mm256_unpacklo_epi8(rows, zero));
  x[2 * i + 1] =
      _mm256_maddubs_epi16(quant_row(quant, 2 * i + 1), _mm256_unpackhi_epi8(rows, zero));
}

/// The first 2 * kPairs rows, dequantised, of values and quantisers that are bytes.
template <int kPairs>
[[gnu::always_inline]] inline void load_bytes(V (&x)[8], const SparseBlocks& blocks, int block,
                                              const SparseQuant& quant) {
  V rows[4];
  expand_two(rows, blocks, block, blocks.values);
  for (int i = 0; i < kPairs; ++i) dequantise_bytes(x, rows[i], quant, i);
}

/// The same of any values and quantisers.
[[gnu::always_inline]] inline void load_words(V (&x)[8], const SparseBlocks& blocks, int block,
                                              const SparseQuant& quant) {
  V low[4], high[4];
  expand_two(low, blocks, block, blocks.values);
  if (blocks.high != nullptr)
    expand_two(high, blocks, block, blocks.high);
  else
    for (int i = 0; i < 4; ++i) high[i] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), low[i]);
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = _mm256_unpacklo_epi8(low[i], high[i]);
    x[2 * i + 1] = _mm256_unpackhi_epi8(low[i], high[i]);
  }
  for (int y = 0; y < 8; ++y) x[y] = _mm256_mullo_epi16(x[y], quant_row(quant, y));
}

/// Rows 0 to 3 of blocks without any later position than kFourRowsEnd - 1, likewise of bytes.
[[gnu::always_inline]] inline void load_first_quarter(V (&x)[8], const SparseBlocks& blocks,
                                                      int block, const SparseQuant& quant) {
  __m128i first[2];
  for (int b = 0; b < 2; ++b) {
    uint64_t mask = blocks.mask[block + b];
    const int8_t* values = blocks.values + blocks.first[block + b];
    first[b] = expand_quarter(mask, values);
  }
  const V zigzag = _mm256_set_m128i(first[1], first[0]);
  for (int i = 0; i < 2; ++i) {
    const V index = _mm256_load_si256(reinterpret_cast<const V*>(kQuarters.at[i][0]));
    dequantise_bytes(x, _mm256_shuffle_epi8(zigzag, index), quant, i);
  }
}

/// Puts the first coefficients, dequantised, into row 0.
[[gnu::always_inline]] inline V with_dc(V row0, const SparseBlocks& blocks, int block,
                                        const SparseQuant& quant) {
  const auto dc = [&](int b) {
    return _mm_cvtsi32_si128(blocks.dc[block + b] * static_cast<int>(quant.natural[0]));
  };
  return _mm256_blend_epi16(row0, _mm256_set_m128i(dc(1), dc(0)), 1);
}

/// False if the blocks are out of range; then nothing is written.
[[gnu::always_inline]] inline bool transform_two(uint8_t* plane, ptrdiff_t stride,
                                                 const SparseBlocks& blocks, int block,
                                                 const SparseQuant& quant, V offset) {
  const uint64_t all = blocks.mask[block] | blocks.mask[block + 1];
  const bool are_bytes = blocks.high == nullptr && quant.is_byte;
  V x[8];
  if ((all & kBeyondFour) == 0 && are_bytes) {
    if (all >> kFourRowsEnd == 0)
      load_first_quarter(x, blocks, block, quant);
    else
      load_bytes<2>(x, blocks, block, quant);
    x[0] = with_dc(x[0], blocks, block, quant);
    if (!is_in_range(x[0])) [[unlikely]]
      return false;
    transform_four_rows(plane, stride, x, offset);
    return true;
  }
  if (are_bytes)
    load_bytes<4>(x, blocks, block, quant);
  else
    load_words(x, blocks, block, quant);
  x[0] = with_dc(x[0], blocks, block, quant);
  if (!is_in_range(x[0])) [[unlikely]]
    return false;
  transform_rows(plane, stride, x, offset);
  return true;
}

}  // namespace

void sparse_idct(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks, int first,
                 const SparseQuant& quant, bool centred) {
  const V offset = _mm256_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  bool is_done = true;
  for (int i = 0; i < kBlockGroup; i += 2)
    is_done &= transform_two(plane + 8 * i, stride, blocks, first + i, quant, offset);
  if (!is_done) scalar::sparse_idct(plane, stride, blocks, first, quant, centred);
}

}  // namespace penstock::avx2
