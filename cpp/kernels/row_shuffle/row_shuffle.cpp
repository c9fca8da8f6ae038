#include "kernels/row_shuffle/row_shuffle.h"

#include "base/cpu.h"

namespace penstock {

const RowShuffle& row_shuffle() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return row_shuffle_avx512();
    case Isa::avx2:
      return row_shuffle_avx2();
    case Isa::scalar:
      break;
  }
#endif
  return row_shuffle_scalar();
}

}  // namespace penstock
