// Elements that change places: every variant writes what a loop over single elements writes, in
// memory without slack.
#include <cstring>
#include <vector>

#include "check.h"
#include "kernels/elements.h"
#include "random_image.h"

namespace penstock {
namespace {

constexpr int kSizes[] = {1, 2, 3, 4, 8, 12};  // bytes of an element

struct Rows {
  Rows(int rows, int columns, int element, int gap = 0)
      : height(rows),
        width(columns),
        bytes(element),
        stride(static_cast<ptrdiff_t>(columns) * element + gap),
        memory(static_cast<size_t>(stride * (rows - 1)) + static_cast<size_t>(columns) * element) {}

  Rows(Draw& draw, int rows, int columns, int element, int gap)
      : Rows(rows, columns, element, gap) {
    for (uint8_t& byte : memory) byte = static_cast<uint8_t>(draw.between(0, 255));
  }

  ElementSource source() const { return {memory.data(), stride, height, width, bytes}; }
  ElementTarget target() { return {memory.data(), stride, height, width, bytes}; }
  const uint8_t* at(int y, int x) const {
    return memory.data() + y * stride + static_cast<ptrdiff_t>(x) * bytes;
  }

  int height, width, bytes;
  ptrdiff_t stride;
  std::vector<uint8_t> memory;
};

bool is_same(const uint8_t* a, const uint8_t* b, int bytes) {
  return std::memcmp(a, b, static_cast<size_t>(bytes)) == 0;
}

TEST_EACH_ISA(elements_are_mirrored) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const int bytes = kSizes[draw.between(0, 5)];
    const int height = draw.between(1, 6), width = draw.between(1, 200);
    const Rows source(draw, height, width, bytes, draw.between(0, 9));
    Rows target(height, width, bytes, draw.between(0, 9));
    const bool across = draw.coin(), down = draw.coin();
    copy_elements(target.target(), source.source(), across, down);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        CHECK(is_same(target.at(y, x),
                      source.at(down ? height - 1 - y : y, across ? width - 1 - x : x), bytes));
  }
}

TEST_EACH_ISA(elements_get_borders) {
  constexpr PadMode kModes[] = {PadMode::constant, PadMode::edge, PadMode::reflect,
                                PadMode::symmetric};
  for (unsigned seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const int bytes = kSizes[draw.between(0, 5)];
    const int height = draw.between(1, 9), width = draw.between(1, 90);
    const int most = draw.coin() ? 4 : 40;  // which may be more than the source has
    const int left = draw.between(0, most), top = draw.between(0, most);
    const int right = draw.between(0, most), bottom = draw.between(0, most);
    const Rows source(draw, height, width, bytes, draw.between(0, 5));
    Rows target(top + height + bottom, left + width + right, bytes,
                draw.coin() ? 0 : draw.between(1, 5));
    const Rows fill(draw, 1, 1, bytes, 0);
    const PadMode mode = kModes[draw.between(0, 3)];
    pad_elements(target.target(), source.source(), top, left, mode, fill.at(0, 0));
    for (int y = 0; y < target.height; ++y)
      for (int x = 0; x < target.width; ++x) {
        const int row = padded_source(y - top, height, mode);
        const int column = padded_source(x - left, width, mode);
        const bool outside = row == kPadOutside || column == kPadOutside;
        CHECK(is_same(target.at(y, x), outside ? fill.at(0, 0) : source.at(row, column), bytes));
      }
  }
}

}  // namespace
}  // namespace penstock
