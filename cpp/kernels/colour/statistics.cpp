#include "kernels/colour/statistics.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/colour/variants.h"

namespace penstock {
namespace {

/// The rows of channels that the image does not have repeat the first.
void repeat_gray(Lut& table, int channels) {
  for (int c = channels; c < 3; ++c) std::memcpy(table.value[c], table.value[0], 256);
}

void set_identity(uint8_t (&row)[256]) { std::iota(row, row + 256, uint8_t{0}); }

}  // namespace

void count_levels(Histogram& histogram, const PlanarView& image) {
  PENSTOCK_PICK(count_levels)(histogram, image);
}

void map_histogram(Histogram& mapped, const Histogram& histogram, int channels, const Lut* table) {
  if (table == nullptr) {
    mapped = histogram;
    return;
  }
  for (int c = 0; c < channels; ++c) {
    std::fill_n(mapped.count[c], 256, 0);
    for (int level = 0; level < 256; ++level)
      mapped.count[c][table->value[c][level]] += histogram.count[c][level];
  }
}

Extremes extremes_of(const Histogram& histogram, int channels) {
  Extremes extremes{};
  for (int c = 0; c < channels; ++c) {
    int least = 0, greatest = 255;
    while (least < 255 && histogram.count[c][least] == 0) ++least;
    while (greatest > 0 && histogram.count[c][greatest] == 0) --greatest;
    extremes.least[c] = static_cast<uint8_t>(least);
    extremes.greatest[c] = static_cast<uint8_t>(greatest);
  }
  return extremes;
}

Extremes find_extremes(const PlanarView& image, const Lut* table) {
  ExtremeFinder finder;
  finder.begin(image.channels);
  finder.add(image, table);
  return finder.found();
}

int mean_luma(const PlanarView& image, const Lut* table) {
  const auto sum = static_cast<double>(PENSTOCK_PICK(sum_luma)(image, table));
  const double pixels = static_cast<double>(image.height) * image.width;
  return static_cast<int>(sum / pixels + 0.5);
}

Lut autocontrast_table(const Extremes& extremes, int channels) {
  Lut table;
  for (int c = 0; c < channels; ++c) {
    const int least = extremes.least[c], greatest = extremes.greatest[c];
    if (greatest <= least) {
      set_identity(table.value[c]);
      continue;
    }
    const double scale = 255.0 / (greatest - least);
    const double offset = -least * scale;
    for (int level = 0; level < 256; ++level)
      table.value[c][level] =
          static_cast<uint8_t>(std::clamp(static_cast<int>(level * scale + offset), 0, 255));
  }
  repeat_gray(table, channels);
  return table;
}

Lut equalize_table(const Histogram& histogram, int channels) {
  Lut table;
  for (int c = 0; c < channels; ++c) {
    const uint32_t (&count)[256] = histogram.count[c];
    int last = 255;
    while (last > 0 && count[last] == 0) --last;
    // One level alone leaves nothing below the last, and so a step of 0.
    const uint64_t below_last = std::accumulate(count, count + last, uint64_t{0});
    const uint64_t step = below_last / 255;
    if (step == 0) {
      set_identity(table.value[c]);
      continue;
    }
    // A quotient of whole numbers below 2^52 is never rounded up to the next one.
    double before[256];
    uint64_t pixels = step / 2;
    for (int level = 0; level < 256; pixels += count[level++])
      before[level] = static_cast<double>(pixels);
    const auto each = static_cast<double>(step);
    for (int level = 0; level < 256; ++level)
      table.value[c][level] = static_cast<uint8_t>(std::min(before[level] / each, 255.0));
  }
  repeat_gray(table, channels);
  return table;
}

}  // namespace penstock
