// The inverse DCT of rows of blocks, two at once.
#include "codec/reconstruct/idct_avx2.h"

namespace penstock::avx2 {
namespace {

/// Row y of two blocks, dequantised.
[[gnu::always_inline]] inline V load_row(const int16_t* coefficients, const uint16_t* quant,
                                         int y) {
  const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
  const V rows = _mm256_inserti128_si256(_mm256_castsi128_si256(load(coefficients + 8 * y)),
                                         load(coefficients + 64 + 8 * y), 1);
  return _mm256_mullo_epi16(rows, _mm256_broadcastsi128_si256(load(quant + 8 * y)));
}

}  // namespace

void idct_row(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
              const uint16_t* quant, bool centred) {
  const V offset = _mm256_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  const int padded = (blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup;
  for (int done = 0; done < padded; done += 2, coefficients += 2 * 64, plane += 2 * 8) {
    V x[8];
    for (int y = 0; y < 8; ++y) x[y] = load_row(coefficients, quant, y);
    if (is_in_range(x[0])) [[likely]] {
      transform_rows(plane, stride, x, offset);
    } else {
      for (int b = 0; b < 2; ++b)
        scalar::idct_block(plane + 8 * b, stride, coefficients + 64 * b, quant, centred);
    }
    for (int i = 0; i < 8; ++i)
      _mm256_store_si256(reinterpret_cast<V*>(coefficients + 16 * i), _mm256_setzero_si256());
  }
}

}  // namespace penstock::avx2
