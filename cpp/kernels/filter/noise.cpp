#include "kernels/filter/noise.h"

#include "kernels/random/numbers.h"

namespace penstock {
void add_gaussian_noise(const PlanarTarget& out, const PlanarView& in, const NoiseSpec& spec) {
  const auto add = PENSTOCK_PICK(add_noise_to_row);
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
