#include <immintrin.h>

#include <array>

#include "codec/zigzag.h"

namespace penstock::avx2 {
namespace {

/// The zigzag mask of each pattern of zeros in each row of a block.
using RowMasks = std::array<std::array<uint64_t, 256>, 8>;

constexpr RowMasks kRowMasks = [] {
  RowMasks masks{};
  for (int k = 0; k < 64; ++k) {
    const int row = kNaturalOrder[k] / 8;
    const int column = kNaturalOrder[k] % 8;
    for (int pattern = 0; pattern < 256; ++pattern)
      if (pattern >> column & 1) masks[row][pattern] |= uint64_t{1} << k;
  }
  return masks;
}();

/// One bit for each of four rows' coefficients that is zero.
uint32_t find_zeros(const int16_t* rows) {
  const auto load = [rows](int row) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + 8 * row));
  };
  const __m256i zero = _mm256_setzero_si256();
  const __m256i first = _mm256_cmpeq_epi16(load(0), zero);
  const __m256i second = _mm256_cmpeq_epi16(load(2), zero);
  // Packing works within halves of the register and leaves rows 0, 2, 1, 3.
  const __m256i packed = _mm256_packs_epi16(first, second);
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xD8)));
}

}  // namespace

void zigzag_masks(uint64_t* masks, const int16_t* blocks, int count) {
  for (int i = 0; i < count; ++i, blocks += 64) {
    const uint64_t present =
        ~(uint64_t{find_zeros(blocks)} | uint64_t{find_zeros(blocks + 32)} << 32);
    uint64_t mask = 0;
    for (int row = 0; row < 8; ++row) mask |= kRowMasks[row][present >> (8 * row) & 0xFF];
    masks[i] = mask;
  }
}

}  // namespace penstock::avx2
