// Gray, and the sum of all grays.
#include "kernels/colour/variants.h"
#include "kernels/colour/vectors.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kStep = kVectorBytes;

/// Sums `luma_at(y, x)`, which gives a register of pixels.
template <class LumaAt>
uint64_t sum_of(const PlanarView& image, LumaAt luma_at) {
  Vector sum = zero();
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kStep) {
      const Vector inside = or_zero(first_bytes(image.width - x), luma_at(y, x));
      sum = MM(add_epi64)(sum, MM(sad_epu8)(inside, zero()));
    }
#if defined(PENSTOCK_ISA_AVX512)
  return static_cast<uint64_t>(_mm512_reduce_add_epi64(sum));
#else
  uint64_t parts[4];
  store(parts, sum);
  return parts[0] + parts[1] + parts[2] + parts[3];
#endif
}

struct Stored {
  Vector operator()(Vector levels) const { return levels; }
};

template <class Map>
uint64_t sum_mapped(const PlanarView& image, const Map& red, const Map& green, const Map& blue) {
  const auto at = [&](int c, int y, int x) { return load(image.row(c, y) + x); };
  if (image.channels == 1) return sum_of(image, [&](int y, int x) { return red(at(0, y, x)); });
  return sum_of(image, [&](int y, int x) {
    return luma(red(at(0, y, x)), green(at(1, y, x)), blue(at(2, y, x)));
  });
}

}  // namespace

uint64_t sum_luma(const PlanarView& image, const Lut* table) {
  if (table == nullptr) return sum_mapped(image, Stored{}, Stored{}, Stored{});
  return sum_mapped(image, Lookup(table->value[0]), Lookup(table->value[1]),
                    Lookup(table->value[2]));
}

void to_gray(const PlanarTarget& out, const PlanarView& in) {
  for (int y = 0; y < in.height; ++y) {
    uint8_t* gray = out.row(0, y);
    const uint8_t* red = in.row(0, y);
    const uint8_t* green = in.row(1, y);
    const uint8_t* blue = in.row(2, y);
    for (int x = 0; x < in.width; x += kStep)
      store(gray + x, luma(load(red + x), load(green + x), load(blue + x)));
  }
}

}  // namespace penstock::PENSTOCK_ISA
