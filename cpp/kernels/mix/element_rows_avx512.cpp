#include "kernels/lanes/lanes_avx512.h"
#include "kernels/mix/element_rows_impl.h"

namespace penstock {

ElementRows element_rows_avx512(Element element) { return ElementLoops<Lanes>::of(element); }

}  // namespace penstock
