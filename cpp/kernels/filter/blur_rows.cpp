#include "kernels/filter/blur_rows.h"

#include "base/cpu.h"

namespace penstock {

const BlurRows& blur_rows() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return blur_rows_avx512();
    case Isa::avx2:
      return blur_rows_avx2();
    case Isa::scalar:
      break;
  }
#endif
  return blur_rows_scalar();
}

}  // namespace penstock
