#include "kernels/lanes/lanes_avx2.h"
#include "kernels/random/uniform_pairs_impl.h"

namespace penstock {

void uniform_pairs_avx2(float* first, float* second, uint64_t first_counter, int count,
                        PhiloxKey key) {
  write_uniform_pairs<Lanes>(first, second, first_counter, count, key);
}

}  // namespace penstock
