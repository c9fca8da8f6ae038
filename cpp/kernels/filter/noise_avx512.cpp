#include "kernels/filter/noise_impl.h"
#include "kernels/lanes/lanes_avx512.h"

namespace penstock {

void add_noise_row_avx512(uint8_t* out, const uint8_t* in, const float* numbers, int count,
                          const NoiseSpec& spec) {
  NoiseLoop<Lanes>::add_to_row(out, in, numbers, count, spec);
}

}  // namespace penstock
