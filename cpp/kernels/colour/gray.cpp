#include "kernels/colour/gray.h"

#include "kernels/colour/variants.h"

namespace penstock {

void make_gray(const PlanarTarget& out, const PlanarView& in) { PENSTOCK_PICK(to_gray)(out, in); }

}  // namespace penstock
