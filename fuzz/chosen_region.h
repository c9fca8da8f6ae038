// A region of an image that the fuzzer chooses, and its pixels.
#pragma once

#include <span>
#include <vector>

#include "base/image.h"

namespace penstock {

/// Depends on the last bytes of the input.
inline Region choose_region(int height, int width, std::span<const uint8_t> input) {
  const auto pick = [&](size_t from_end, int limit) {
    return input.size() > from_end ? input[input.size() - 1 - from_end] % limit : 0;
  };
  Region region;
  region.top = pick(0, height);
  region.left = pick(1, width);
  region.height = 1 + pick(2, height - region.top);
  region.width = 1 + pick(3, width - region.left);
  return region;
}

/// Keeps the wanted rectangle of what arrives.
class Collect : public RowSink {
 public:
  explicit Collect(const Region& wanted) : wanted_(wanted) {}

  void take(const PlanarView& rows, int first_row) override {
    for (int y = 0; y < rows.height; ++y) {
      const int row = first_row + y - wanted_.top;
      if (row < 0 || row >= wanted_.height) continue;
      for (int c = 0; c < rows.channels; ++c) {
        const uint8_t* from = rows.row(c, y) + wanted_.left;
        bytes.insert(bytes.end(), from, from + wanted_.width);
      }
    }
  }

  std::vector<uint8_t> bytes;

 private:
  const Region wanted_;
};

}  // namespace penstock
