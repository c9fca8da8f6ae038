#include "codec/reconstruct.h"

namespace penstock {

bool can_upsample(int horizontal_ratio, int vertical_ratio) {
  // Sampling factors, and therefore their ratios, are at most 4.
  return horizontal_ratio >= 1 && horizontal_ratio <= 4 && vertical_ratio >= 1 &&
         vertical_ratio <= 4;
}

}  // namespace penstock
