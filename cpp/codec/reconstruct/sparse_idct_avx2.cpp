// The inverse DCT of sparse blocks, two at once.
#if defined(__x86_64__)

#include "codec/reconstruct/idct_lanes_avx2.h"
#include "codec/sparse_idct.h"
#include "codec/zigzag.h"

namespace penstock {
namespace {

constexpr uint8_t kNone = 0x80;  // gives zero in a byte shuffle

/// For each byte of a mask: which of the next values goes where.
struct ExpandTable {
  uint8_t at[256][8];
};

constexpr ExpandTable make_expand_table() {
  ExpandTable table{};
  for (int mask = 0; mask < 256; ++mask) {
    uint8_t next = 0;
    for (int bit = 0; bit < 8; ++bit) table.at[mask][bit] = mask >> bit & 1 ? next++ : kNone;
  }
  return table;
}

alignas(64) constexpr ExpandTable kExpand = make_expand_table();

/// From a quarter of the zigzag order to a quarter (two rows) of the natural one, in both lanes.
struct QuarterShuffles {
  uint8_t at[4][4][32];  // [to][from]
  bool is_needed[4][4];
};

constexpr QuarterShuffles make_quarter_shuffles() {
  QuarterShuffles shuffles{};
  for (auto& to : shuffles.at)
    for (auto& from : to)
      for (uint8_t& index : from) index = kNone;
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

/// One block's values to every second 16 bytes of `zigzag`.
[[gnu::always_inline]] inline void expand(uint8_t* zigzag, uint64_t mask, const int8_t* values) {
  for (int i = 0; i < 8; ++i) {
    const uint8_t bits = static_cast<uint8_t>(mask >> 8 * i);
    const __m128i index = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kExpand.at[bits]));
    const __m128i next = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(zigzag + 32 * (i / 2) + 8 * (i % 2)),
                     _mm_shuffle_epi8(next, index));
    values += _mm_popcnt_u32(bits);
  }
}

template <int kTo>
[[gnu::always_inline]] inline V natural_quarter(const V (&zigzag)[4]) {
  V rows = _mm256_setzero_si256();
  for (int from = 0; from < 4; ++from) {
    if (!kQuarters.is_needed[kTo][from]) continue;
    const V index = _mm256_load_si256(reinterpret_cast<const V*>(kQuarters.at[kTo][from]));
    rows = _mm256_or_si256(rows, _mm256_shuffle_epi8(zigzag[from], index));
  }
  return rows;
}

[[gnu::always_inline]] inline void widen(V* x, V rows) {
  x[0] = _mm256_srai_epi16(_mm256_unpacklo_epi8(rows, rows), 8);
  x[1] = _mm256_srai_epi16(_mm256_unpackhi_epi8(rows, rows), 8);
}

}  // namespace

void sparse_idct_avx2(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks, int first,
                      int count, const uint16_t* quant, bool centred) {
  const V offset = _mm256_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  for (int done = 0; done < count; done += 2, plane += 2 * 8) {
    const int block = first + done;
    alignas(32) uint8_t bytes[4 * 32];
    for (int b = 0; b < 2; ++b)
      expand(bytes + 16 * b, blocks.mask[block + b], blocks.values + blocks.first[block + b]);
    V zigzag[4], x[8];
    for (int i = 0; i < 4; ++i)
      zigzag[i] = _mm256_load_si256(reinterpret_cast<const V*>(bytes + 32 * i));
    widen(x, natural_quarter<0>(zigzag));
    widen(x + 2, natural_quarter<1>(zigzag));
    widen(x + 4, natural_quarter<2>(zigzag));
    widen(x + 6, natural_quarter<3>(zigzag));
    const V dc =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_cvtsi32_si128(blocks.dc[block])),
                                _mm_cvtsi32_si128(blocks.dc[block + 1]), 1);
    x[0] = _mm256_blend_epi16(x[0], dc, 1);
    for (int y = 0; y < 8; ++y) {
      const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i*>(quant + 8 * y));
      x[y] = _mm256_mullo_epi16(x[y], _mm256_broadcastsi128_si256(row));
    }
    if (!transform_rows(plane, stride, x, offset))
      sparse_idct_scalar(plane, stride, blocks, block, 2, quant, centred);
  }
}

}  // namespace penstock

#endif
