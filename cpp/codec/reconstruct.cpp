#include "codec/reconstruct.h"

#include "codec/reconstruct/variants.h"

namespace penstock {

Reconstruction reconstruction() { return {idct_row_scalar, rgb_row_scalar}; }

bool can_upsample(int horizontal_ratio, int vertical_ratio) {
  // Sampling factors, and therefore their ratios, are at most 4.
  return horizontal_ratio >= 1 && horizontal_ratio <= 4 && vertical_ratio >= 1 &&
         vertical_ratio <= 4;
}

}  // namespace penstock
