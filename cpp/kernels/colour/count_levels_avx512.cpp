// Counts levels without counters in memory, each of which would cost a store for every value.
//
// A block of 16 rows and 32 columns becomes eight vectors, one for each bit of a level, with a bit
// for each of the 512 pixels. From the upper four follow 16 masks, of the pixels whose level
// begins with these bits, and from the lower four 16 others. What an upper and a lower mask have
// in common are the pixels of one level, to be counted by one instruction.
//
// Neighbours are alike: of the 16 upper masks, half are empty in a usual block, and are left out.
#include <immintrin.h>

#include <cstring>

#include "kernels/colour/variants.h"

namespace penstock::avx512 {
namespace {

constexpr int kBlockRows = 16, kBlockColumns = 32;
constexpr int kHalf = 16;  // values of four bits

/// How often levels occur: row `upper` has the counts of its 16 levels, of which vector k holds
/// those of levels 2 k and 2 k + 1, in turns of four words.
struct Counts {
  alignas(64) uint16_t words[kHalf][kHalf / 2][32];
};

// A block adds at most 32 to a word, and sums of words are formed with a sign.
constexpr int kMostBlocks = 32767 / 32;

/// 512 pixels: two rows of a block in each vector.
struct Block {
  __m512i rows[8];
};

/// The same bit of 512 levels in each vector, or of as many other bytes.
struct BitPlanes {
  __m512i bit[8];
};

__m512i two_rows(const uint8_t* first, const uint8_t* second) {
  const auto load = [](const uint8_t* row) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
  };
  return _mm512_inserti64x4(_mm512_castsi256_si512(load(first)), load(second), 1);
}

/// The planes are in some order of the pixels, the same for all.
BitPlanes bit_planes(const Block& block) {
  // Multiplied by this matrix, eight bytes are transposed as 8x8 bits: byte b has bit b of each.
  const __m512i identity = _mm512_set1_epi64(0x8040201008040201);
  __m512i byte[8];
  for (int r = 0; r < 8; ++r) byte[r] = _mm512_gf2p8affine_epi64_epi8(identity, block.rows[r], 0);
  // Then bytes are collected from all vectors: twos, fours, eights, sixteens with the same b.
  __m512i two[2][4], four[2][2][2], eight[2][4];
  for (int i = 0; i < 4; ++i) {
    two[0][i] = _mm512_unpacklo_epi8(byte[2 * i], byte[2 * i + 1]);
    two[1][i] = _mm512_unpackhi_epi8(byte[2 * i], byte[2 * i + 1]);
  }
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 2; ++i) {
      four[h][0][i] = _mm512_unpacklo_epi16(two[h][2 * i], two[h][2 * i + 1]);
      four[h][1][i] = _mm512_unpackhi_epi16(two[h][2 * i], two[h][2 * i + 1]);
    }
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 2; ++i) {
      eight[h][2 * i] = _mm512_unpacklo_epi32(four[h][i][0], four[h][i][1]);
      eight[h][2 * i + 1] = _mm512_unpackhi_epi32(four[h][i][0], four[h][i][1]);
    }
  BitPlanes planes;
  for (int i = 0; i < 4; ++i) {
    planes.bit[2 * i] = _mm512_unpacklo_epi64(eight[0][i], eight[1][i]);
    planes.bit[2 * i + 1] = _mm512_unpackhi_epi64(eight[0][i], eight[1][i]);
  }
  return planes;
}

/// Where the bits of a, b and c spell the number kValue.
template <int kValue>
__m512i where(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 1 << kValue);
}

/// Where four bits, the uppermost first, spell 0, 1, ... 15; only among `these`.
void masks_of(__m512i (&masks)[kHalf], const __m512i* bit, __m512i these) {
  const __m512i a = bit[3], b = bit[2], c = bit[1];
  const __m512i upper[8] = {where<0>(a, b, c), where<1>(a, b, c), where<2>(a, b, c),
                            where<3>(a, b, c), where<4>(a, b, c), where<5>(a, b, c),
                            where<6>(a, b, c), where<7>(a, b, c)};
  const __m512i odd = _mm512_and_si512(bit[0], these), even = _mm512_andnot_si512(bit[0], these);
  for (int i = 0; i < 8; ++i) {
    masks[2 * i] = _mm512_and_si512(upper[i], even);
    masks[2 * i + 1] = _mm512_and_si512(upper[i], odd);
  }
}

/// Adds the pixels of a block that are among `these`.
void count_block(Counts& counts, const Block& block, __m512i these) {
  const BitPlanes planes = bit_planes(block);
  __m512i upper[kHalf], lower[kHalf];
  masks_of(upper, planes.bit + 4, these);
  masks_of(lower, planes.bit, _mm512_set1_epi8(-1));
  unsigned present = 0;
  for (int i = 0; i < kHalf; ++i)
    present |= unsigned{_mm512_test_epi64_mask(upper[i], upper[i]) != 0} << i;
  for (; present != 0; present &= present - 1) {
    const int i = __builtin_ctz(present);
    const __m512i mask = upper[i];
    for (int k = 0; k < kHalf / 2; ++k) {
      const __m512i even = _mm512_popcnt_epi32(_mm512_and_si512(mask, lower[2 * k]));
      const __m512i odd = _mm512_popcnt_epi32(_mm512_and_si512(mask, lower[2 * k + 1]));
      uint16_t* words = counts.words[i][k];
      const __m512i sum =
          _mm512_add_epi16(_mm512_load_si512(words), _mm512_packus_epi32(even, odd));
      _mm512_store_si512(words, sum);
    }
  }
}

/// Adds the counts to those of a channel, and forgets them.
void move_counts(uint32_t (&channel)[256], Counts& counts) {
  for (int i = 0; i < kHalf; ++i)
    for (int k = 0; k < kHalf / 2; ++k) {
      const __m512i pairs =
          _mm512_madd_epi16(_mm512_load_si512(counts.words[i][k]), _mm512_set1_epi16(1));
      const __m256i half =
          _mm256_add_epi32(_mm512_castsi512_si256(pairs), _mm512_extracti64x4_epi64(pairs, 1));
      const __m128i quarter =
          _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
      uint32_t* two = channel + kHalf * i + 2 * k;
      two[0] +=
          static_cast<uint32_t>(_mm_extract_epi32(quarter, 0) + _mm_extract_epi32(quarter, 1));
      two[1] +=
          static_cast<uint32_t>(_mm_extract_epi32(quarter, 2) + _mm_extract_epi32(quarter, 3));
    }
  std::memset(&counts, 0, sizeof(counts));
}

/// Which pixels of a block are inside, if only its first `columns` columns are.
__m512i inside(int columns) {
  const __mmask32 row = columns < kBlockColumns ? (__mmask32{1} << columns) - 1 : ~__mmask32{0};
  Block block;
  for (__m512i& rows : block.rows) rows = _mm512_maskz_set1_epi8(__mmask64{row} << 32 | row, -1);
  return bit_planes(block).bit[0];
}

/// Adds the rows of a channel; their number is a multiple of kBlockRows.
void count_channel(uint32_t (&channel)[256], const PlanarView& image, int c, int rows) {
  Counts counts;
  std::memset(&counts, 0, sizeof(counts));
  int blocks = 0;
  for (int x = 0; x < image.width; x += kBlockColumns) {
    const __m512i these = inside(image.width - x);
    for (int y = 0; y < rows; y += kBlockRows) {
      Block block;
      for (int r = 0; r < 8; ++r)
        block.rows[r] = two_rows(image.row(c, y + 2 * r) + x, image.row(c, y + 2 * r + 1) + x);
      count_block(counts, block, these);
      if (++blocks < kMostBlocks) continue;
      move_counts(channel, counts);
      blocks = 0;
    }
  }
  move_counts(channel, counts);
}

}  // namespace

void count_levels(Histogram& histogram, const PlanarView& image) {
  const int rows = image.height / kBlockRows * kBlockRows;
  scalar::count_levels(histogram, rows_of(image, rows, image.height - rows));
  if (rows == 0) return;
  for (int c = 0; c < image.channels; ++c) count_channel(histogram.count[c], image, c, rows);
}

}  // namespace penstock::avx512
