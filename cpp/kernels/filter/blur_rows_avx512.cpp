#include "kernels/filter/blur_rows_impl.h"
#include "kernels/lanes/lanes_avx512.h"

namespace penstock {

const BlurRows& blur_rows_avx512() { return kBlurLoops<Lanes>; }

}  // namespace penstock
