#include "kernels/lanes/lanes_avx2.h"
#include "kernels/random/normal_impl.h"

namespace penstock {

void normals_avx2(float* numbers, uint64_t first_group, int groups, PhiloxKey key) {
  NormalLoop<Lanes>::write(numbers, first_group, groups, key);
}

}  // namespace penstock
