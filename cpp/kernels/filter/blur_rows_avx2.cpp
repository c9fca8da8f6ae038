#include "kernels/filter/blur_rows_impl.h"
#include "kernels/lanes/lanes_avx2.h"

namespace penstock {

const BlurRows& blur_rows_avx2() { return kBlurLoops<Lanes>; }

}  // namespace penstock
