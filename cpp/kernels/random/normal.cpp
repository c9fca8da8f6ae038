#include "kernels/random/normal.h"

#include "base/cpu.h"

namespace penstock {

Normals normals() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return normals_avx512;
    case Isa::avx2:
      return normals_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return normals_scalar;
}

}  // namespace penstock
