#include "kernels/random/uniform_pairs.h"

#include "base/cpu.h"

namespace penstock {

UniformPairs uniform_pairs() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return uniform_pairs_avx512;
    case Isa::avx2:
      return uniform_pairs_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return uniform_pairs_scalar;
}

}  // namespace penstock
