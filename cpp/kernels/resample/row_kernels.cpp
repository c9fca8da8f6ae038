#include "kernels/resample/row_kernels.h"

#include "base/cpu.h"

namespace penstock {

const RowKernels& row_kernels() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return row_kernels_avx512();
    case Isa::avx2:
      return row_kernels_avx2();
    case Isa::scalar:
      break;
  }
#endif
  return row_kernels_scalar();
}

}  // namespace penstock
