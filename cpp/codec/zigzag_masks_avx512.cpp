#include <immintrin.h>

#include <array>

#include "codec/zigzag.h"

namespace penstock::avx512 {
namespace {

constexpr std::array<int16_t, 64> kOrder = [] {
  std::array<int16_t, 64> order{};
  for (int k = 0; k < 64; ++k) order[k] = kNaturalOrder[k];
  return order;
}();

}  // namespace

void zigzag_masks(uint64_t* masks, const int16_t* blocks, int count) {
  const __m512i low_order = _mm512_loadu_si512(kOrder.data());
  const __m512i high_order = _mm512_loadu_si512(kOrder.data() + 32);
  for (int i = 0; i < count; ++i, blocks += 64) {
    const __m512i top = _mm512_loadu_si512(blocks);
    const __m512i bottom = _mm512_loadu_si512(blocks + 32);
    const __m512i low = _mm512_permutex2var_epi16(top, low_order, bottom);
    const __m512i high = _mm512_permutex2var_epi16(top, high_order, bottom);
    masks[i] = uint64_t{_mm512_test_epi16_mask(low, low)} |
               uint64_t{_mm512_test_epi16_mask(high, high)} << 32;
  }
}

}  // namespace penstock::avx512
