#include "codec/zigzag.h"

namespace penstock::scalar {

void zigzag_masks(uint64_t* masks, const int16_t* blocks, int count) {
  for (int i = 0; i < count; ++i, blocks += 64) {
    uint64_t mask = 0;
    for (int k = 0; k < 64; ++k) mask |= uint64_t{blocks[kNaturalOrder[k]] != 0} << k;
    masks[i] = mask;
  }
}

}  // namespace penstock::scalar
