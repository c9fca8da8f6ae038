#include "kernels/colour/extremes.h"

#include <algorithm>

#include "kernels/colour/variants.h"

namespace penstock {

void ExtremeFinder::begin(int channels) {
  channels_ = channels;
  for (int c = 0; c < channels; ++c) {
    std::ranges::fill(lanes_[c].least, uint8_t{255});
    std::ranges::fill(lanes_[c].greatest, uint8_t{0});
  }
}

void ExtremeFinder::add(const PlanarView& part, const Lut* table) {
  for (int c = 0; c < channels_; ++c)
    PENSTOCK_PICK(widen_extremes)(lanes_[c], part, c, table == nullptr ? nullptr : table->value[c]);
}

Extremes ExtremeFinder::found() const {
  Extremes extremes{};
  for (int c = 0; c < channels_; ++c) {
    extremes.least[c] = *std::ranges::min_element(lanes_[c].least);
    extremes.greatest[c] = *std::ranges::max_element(lanes_[c].greatest);
  }
  return extremes;
}

}  // namespace penstock
