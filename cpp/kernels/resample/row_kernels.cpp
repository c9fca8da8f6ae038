#include "kernels/resample/row_kernels.h"

namespace penstock {

const RowKernels& row_kernels() {
  return row_kernels_scalar();
}

}  // namespace penstock
