// Nearest warps that move whole rows: no calls for a few bytes, and nothing is written twice.
#include <immintrin.h>

#include "kernels/warp/nearest_paths.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 64;

/// The first `count` bytes of a register, which may be less than none or more than all.
__mmask64 first_bytes(int64_t count) {
  return _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(count < 0       ? 0
                                                       : count > kStep ? kStep
                                                                       : count));
}

template <int kPlanes>
void copy(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y, int64_t shift,
          const uint8_t (&fill)[3]) {
  const bool is_there = in_y >= 0 && in_y < in.height;
  const int64_t begin = -shift, end = is_there ? in.width - shift : 0;
  const int width = out.width;
  const uint8_t* source[kPlanes];
  uint8_t* target[kPlanes];
  __m512i around[kPlanes];
  for (int c = 0; c < kPlanes; ++c) {
    source[c] = in.plane[c < in.channels ? c : in.channels - 1] + (is_there ? in_y : 0) * in.stride;
    target[c] = out.row(c, out_y);
    around[c] = _mm512_set1_epi8(static_cast<char>(fill[c]));
  }
  for (int x = 0; x < width; x += kStep) {
    const __mmask64 inside = first_bytes(end - x) & ~first_bytes(begin - x);
    for (int c = 0; c < kPlanes; ++c) {
      // A byte that is not inside may be anywhere: it is not read.
      const __m512i pixels =
          inside == 0 ? around[c]
                      : _mm512_mask_loadu_epi8(around[c], inside, source[c] + (x + shift));
      _mm512_storeu_si512(target[c] + x, pixels);
    }
  }
}

}  // namespace

void copy_shifted_row(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y,
                      int64_t shift, const uint8_t (&fill)[3]) {
  (out.channels == 1 ? copy<1> : copy<3>)(out, in, out_y, in_y, shift, fill);
}

}  // namespace penstock::avx512
