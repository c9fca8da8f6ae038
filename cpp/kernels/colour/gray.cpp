#include "kernels/colour/gray.h"

#include "kernels/colour/variants.h"

namespace penstock {

void make_gray(const PlanarTarget& out, const PlanarView& in) { colour_kernels().gray(out, in); }

}  // namespace penstock
