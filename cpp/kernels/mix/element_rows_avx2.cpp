#include "kernels/lanes/lanes_avx2.h"
#include "kernels/mix/element_rows_impl.h"

namespace penstock {

ElementRows element_rows_avx2(Element element) { return ElementLoops<Lanes>::of(element); }

}  // namespace penstock
