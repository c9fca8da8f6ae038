#include "kernels/filter/noise.h"

#include "base/cpu.h"
#include "kernels/random/normal_stream.h"

namespace penstock {
namespace {

AddNoiseRow add_noise_row() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return add_noise_row_avx512;
    case Isa::avx2:
      return add_noise_row_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return add_noise_row_scalar;
}

}  // namespace

void add_gaussian_noise(const PlanarTarget& out, const PlanarView& in, const NoiseSpec& spec) {
  const AddNoiseRow add = add_noise_row();
  NormalStream numbers(spec.key);
  for (int c = 0; c < out.channels; ++c)
    for (int y = 0; y < out.height; ++y) {
      uint8_t* to = out.row(c, y);
      const uint8_t* from = in.row(in.channels == 1 ? 0 : c, y);
      for (int x = 0, count; x < out.width; x += count) {
        const float* next = numbers.next(out.width - x, count);
        add(to + x, from + x, next, count, spec);
      }
    }
}

}  // namespace penstock
