#include "codec/reconstruct.h"

#include "base/cpu.h"
#include "codec/reconstruct/variants.h"

namespace penstock {

Reconstruction reconstruction() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return {idct_row_avx512, rgb_row_avx512};
    case Isa::avx2:
      return {idct_row_avx2, rgb_row_avx2};
    case Isa::scalar:
      break;
  }
#endif
  return {idct_row_scalar, rgb_row_scalar};
}

bool can_upsample(int horizontal_ratio, int vertical_ratio) {
  // Sampling factors, and therefore their ratios, are at most 4.
  return horizontal_ratio >= 1 && horizontal_ratio <= 4 && vertical_ratio >= 1 &&
         vertical_ratio <= 4;
}

}  // namespace penstock
