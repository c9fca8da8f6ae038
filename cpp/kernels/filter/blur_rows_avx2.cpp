#include "kernels/filter/blur_rows_impl.h"
#include "kernels/lanes/lanes_avx2.h"

namespace penstock {

const BlurRows& blur_rows_avx2() {
  static constexpr BlurRows kernels{BlurLoops<Lanes>::across, BlurLoops<Lanes>::down,
                                    BlurLoops<Lanes>::down_to_floats, BlurLoops<Lanes>::widen};
  return kernels;
}

}  // namespace penstock
