#include "kernels/colour/variants.h"

#include "base/cpu.h"

namespace penstock {

const ColourKernels& colour_kernels_scalar() {
  static constexpr ColourKernels kernels{apply_lut_scalar, find_extremes_scalar, sum_luma_scalar,
                                         gray_scalar,      saturate_scalar,      turn_hue_scalar};
  return kernels;
}

#if defined(__x86_64__)
const ColourKernels& colour_kernels_avx2() {
  static constexpr ColourKernels kernels{apply_lut_avx2, find_extremes_avx2, sum_luma_avx2,
                                         gray_avx2,      saturate_avx2,      turn_hue_avx2};
  return kernels;
}

const ColourKernels& colour_kernels_avx512() {
  static constexpr ColourKernels kernels{apply_lut_avx512, find_extremes_avx512, sum_luma_avx512,
                                         gray_avx512,      saturate_avx512,      turn_hue_avx512};
  return kernels;
}
#endif

const ColourKernels& colour_kernels() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return colour_kernels_avx512();
    case Isa::avx2:
      return colour_kernels_avx2();
    case Isa::scalar:
      break;
  }
#endif
  return colour_kernels_scalar();
}

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  colour_kernels().apply_lut(out, in, table);
}

}  // namespace penstock
