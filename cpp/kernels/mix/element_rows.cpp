#include "kernels/mix/element_rows.h"

#include "base/cpu.h"

namespace penstock {

ElementRows element_rows(Element element) {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return element_rows_avx512(element);
    case Isa::avx2:
      return element_rows_avx2(element);
    case Isa::scalar:
      break;
  }
#endif
  return element_rows_scalar(element);
}

}  // namespace penstock
