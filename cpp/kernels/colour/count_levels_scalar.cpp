#include <cstring>

#include "kernels/colour/variants.h"

namespace penstock::scalar {
namespace {

// Equal neighbours would make one counter wait for itself. So neighbours use different ones, and
// three rows are counted side by side.
constexpr int kCounters = 4;
constexpr int kRows = 3;

using Counters = uint32_t[kCounters][256];

void count_rows(Counters (&counters)[kRows], const uint8_t* const (&rows)[kRows], int width) {
  int x = 0;
  for (; x + 8 <= width; x += 8) {
    uint64_t eight[kRows];
    for (int r = 0; r < kRows; ++r) std::memcpy(&eight[r], rows[r] + x, 8);
    for (int i = 0; i < 8; ++i)
      for (int r = 0; r < kRows; ++r) {
        ++counters[r][i % kCounters][eight[r] & 255];
        eight[r] >>= 8;
      }
  }
  for (; x < width; ++x)
    for (int r = 0; r < kRows; ++r) ++counters[r][0][rows[r][x]];
}

void count_row(Counters& counters, const uint8_t* row, int width) {
  for (int x = 0; x < width; ++x) ++counters[x % kCounters][row[x]];
}

}  // namespace

void count_levels(Histogram& histogram, const PlanarView& image) {
  const int height = image.height, width = image.width;
  Counters counters[kRows] = {};
  if (image.channels == 3) {
    for (int y = 0; y < height; ++y)
      count_rows(counters, {image.row(0, y), image.row(1, y), image.row(2, y)}, width);
  } else {
    int y = 0;
    for (; y + kRows <= height; y += kRows)
      count_rows(counters, {image.row(0, y), image.row(0, y + 1), image.row(0, y + 2)}, width);
    for (; y < height; ++y) count_row(counters[0], image.row(0, y), width);
  }
  for (int level = 0; level < 256; ++level) {
    uint32_t sums[kRows];
    for (int r = 0; r < kRows; ++r)
      sums[r] = counters[r][0][level] + counters[r][1][level] + counters[r][2][level] +
                counters[r][3][level];
    for (int c = 0; c < image.channels; ++c)
      histogram.count[c][level] = image.channels == 3 ? sums[c] : sums[0] + sums[1] + sums[2];
  }
}

}  // namespace penstock::scalar
