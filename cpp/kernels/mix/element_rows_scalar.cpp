#include "kernels/lanes/lanes_scalar.h"
#include "kernels/mix/element_rows_impl.h"

namespace penstock {

ElementRows element_rows_scalar(Element element) { return ElementLoops<Lanes>::of(element); }

}  // namespace penstock
