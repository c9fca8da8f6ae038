#include "codec/zigzag_masks.h"

#include "base/cpu.h"
#include "codec/zigzag.h"

namespace penstock {

void zigzag_masks_scalar(uint64_t* masks, const int16_t* blocks, int count) {
  for (int i = 0; i < count; ++i, blocks += 64) {
    uint64_t mask = 0;
    for (int k = 0; k < 64; ++k) mask |= uint64_t{blocks[kNaturalOrder[k]] != 0} << k;
    masks[i] = mask;
  }
}

ZigzagMasks zigzag_masks() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return zigzag_masks_avx512;
    case Isa::avx2:
      return zigzag_masks_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return zigzag_masks_scalar;
}

}  // namespace penstock
