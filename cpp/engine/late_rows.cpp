#include "engine/late_rows.h"

#include <utility>

namespace penstock {

void LateRows::begin(const Output& output, const PlanarTarget& image, Buffer& memory) {
  std::swap(memory_, memory);
  writer_.begin(output, image.channels);
  image_ = image;
  next_row_ = 0;
}

void LateRows::step() {
  if (!is_pending()) return;
  const uint8_t* planes[3] = {};
  for (int c = 0; c < image_.channels; ++c) planes[c] = image_.row(c, next_row_);
  writer_.write(next_row_++, planes);
  if (!is_pending()) writer_.finish();
}

void LateRows::finish() {
  while (is_pending()) step();
}

}  // namespace penstock
