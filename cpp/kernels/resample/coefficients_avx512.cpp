#include "kernels/resample/coefficients_block.h"

namespace penstock {

ComputeBlock compute_block_avx512(Filter filter) {
  if (filter == Filter::box) return compute_block<BoxFilter>;
  if (filter == Filter::bicubic) return compute_block<BicubicFilter>;
  return compute_block<BilinearFilter>;
}

}  // namespace penstock
