#include "kernels/lanes/lanes_avx512.h"
#include "kernels/random/normal_impl.h"

namespace penstock {

void normals_avx512(float* numbers, uint64_t first_group, int groups, PhiloxKey key) {
  NormalLoop<Lanes>::write(numbers, first_group, groups, key);
}

}  // namespace penstock
