#include "kernels/resample/coefficients.h"

#include "base/cpu.h"
#include "kernels/resample/coefficients_block.h"

namespace penstock {

ComputeBlock compute_block_scalar(Filter filter) {
  switch (filter) {
    case Filter::box:
      return compute_block<BoxFilter>;
    case Filter::hamming:
      return compute_block<HammingFilter>;
    case Filter::bicubic:
      return compute_block<BicubicFilter>;
    case Filter::lanczos:
      return compute_block<LanczosFilter>;
    case Filter::bilinear:
    case Filter::nearest:
      break;
  }
  return compute_block<BilinearFilter>;
}

ComputeBlock compute_block_for(Filter filter) {
#if defined(__x86_64__)
  if (filter != Filter::hamming && filter != Filter::lanczos) {
    if (active_isa() == Isa::avx512) return compute_block_avx512(filter);
    if (active_isa() == Isa::avx2) return compute_block_avx2(filter);
  }
#endif
  return compute_block_scalar(filter);
}

}  // namespace penstock
