#include "kernels/colour/variants.h"

namespace penstock::avx2 {

// AVX2 has no instruction that counts bits, on which the way of AVX-512 rests.
void count_levels(Histogram& histogram, const PlanarView& image) {
  scalar::count_levels(histogram, image);
}

}  // namespace penstock::avx2
