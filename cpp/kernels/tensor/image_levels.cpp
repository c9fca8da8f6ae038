#include "kernels/tensor/image_levels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/colour/lut.h"
#include "kernels/tensor/values.h"

namespace penstock {
namespace {

constexpr float kWhite = 255;

template <class Row>
void for_rows(const PlanarTarget& image, Row change) {
  for (int y = 0; y < image.height; ++y) {
    const Colours<uint8_t> row{{image.row(0, y), image.row(1, y), image.row(2, y)}};
    change(row, Colours<const uint8_t>{{row.first[0], row.first[1], row.first[2]}});
  }
}

/// `change` gives a level as a float, which is kept within black and white and cut.
template <class Change>
void change_levels(const PlanarTarget& image, Change change) {
  Lut table;
  for (int level = 0; level < 256; ++level) {
    const float changed = std::clamp(change(static_cast<float>(level)), 0.0f, kWhite);
    table.value[0][level] = static_cast<uint8_t>(changed);
  }
  std::memcpy(table.value[1], table.value[0], 256);
  std::memcpy(table.value[2], table.value[0], 256);
  apply_lut(image, image.view(), table);
}

/// `take(y, x, grays, count)` gets all grays, some at a time.
template <class Take>
void for_grays(const PlanarTarget& image, Take take) {
  constexpr int kMost = 1024;
  uint8_t gray[kMost];
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kMost) {
      const int some = std::min(kMost, image.width - x);
      const Colours<const uint8_t> part{
          {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x}};
      PENSTOCK_PICK(gray_levels)(gray, part, static_cast<size_t>(some));
      take(y, x, gray, some);
    }
}

int64_t sum_of_grays(const PlanarTarget& image) {
  int64_t sum = 0;
  for_grays(image, [&](int, int, const uint8_t* gray, int count) {
    sum += std::accumulate(gray, gray + count, 0);
  });
  return sum;
}

}  // namespace

void scale_levels(const PlanarTarget& image, double factor) {
  const auto by = static_cast<float>(factor);
  change_levels(image, [=](float level) { return level * by; });
}

void stretch_levels_from_mean(const PlanarTarget& image, double factor) {
  const auto pixels = static_cast<float>(static_cast<int64_t>(image.height) * image.width);
  const float mean = static_cast<float>(sum_of_grays(image)) / pixels;
  const auto by = static_cast<float>(factor), rest = static_cast<float>(1.0 - factor);
  change_levels(image, [=](float level) { return std::fma(mean, rest, level * by); });
}

void saturate_levels_of(const PlanarTarget& image, double factor) {
  const auto by = static_cast<float>(factor), rest = static_cast<float>(1.0 - factor);
  for_rows(image, [&](const Colours<uint8_t>& to, const Colours<const uint8_t>& from) {
    PENSTOCK_PICK(saturate_levels)(to, from, static_cast<size_t>(image.width), by, rest);
  });
}

void turn_hue_of(const PlanarTarget& image, double factor) {
  const auto turn = static_cast<float>(factor);
  for_rows(image, [&](const Colours<uint8_t>& to, const Colours<const uint8_t>& from) {
    PENSTOCK_PICK(turn_hue_of_levels)(to, from, static_cast<size_t>(image.width), turn);
  });
}

void turn_gray(const PlanarTarget& image) {
  for_grays(image, [&](int y, int x, const uint8_t* gray, int count) {
    std::memcpy(image.row(0, y) + x, gray, static_cast<size_t>(count));
  });
}

}  // namespace penstock
