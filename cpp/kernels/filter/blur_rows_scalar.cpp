#include "kernels/filter/blur_rows_impl.h"
#include "kernels/lanes/lanes_scalar.h"

namespace penstock {

const BlurRows& blur_rows_scalar() { return kBlurLoops<Lanes>; }

}  // namespace penstock
