// The inverse DCT of rows of blocks, four at once.
#include "codec/reconstruct/idct_lanes.h"

namespace penstock::avx512 {
void idct_row(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
              const uint16_t* quant, bool centred) {
  const V quant_top = _mm512_loadu_si512(quant), quant_bottom = _mm512_loadu_si512(quant + 32);
  const V offset = _mm512_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  for (int done = 0; done < blocks; done += 4, coefficients += 4 * 64, plane += 4 * 8) {
    V top[4], bottom[4];
    for (int b = 0; b < 4; ++b) {
      top[b] = _mm512_mullo_epi16(_mm512_load_si512(coefficients + 64 * b), quant_top);
      bottom[b] = _mm512_mullo_epi16(_mm512_load_si512(coefficients + 64 * b + 32), quant_bottom);
    }
    V x[8];
    gather_rows(x, top);
    gather_rows(x + 4, bottom);
    if (is_in_range(x[0])) [[likely]] {
      transform_rows(plane, stride, x, offset);
    } else {
      for (int b = 0; b < 4; ++b)
        scalar::idct_block(plane + 8 * b, stride, coefficients + 64 * b, quant, centred);
    }
    for (int i = 0; i < 8; ++i) _mm512_store_si512(coefficients + 32 * i, _mm512_setzero_si512());
  }
}

}  // namespace penstock::avx512
