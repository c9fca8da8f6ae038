#include "kernels/tensor/levels.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/image.h"
#include "kernels/colour/lut.h"
#include "kernels/colour/variants.h"

namespace penstock {
namespace {

constexpr size_t kVectorBytes = 64;  // of the widest instruction set
constexpr size_t kMostInRow = size_t{1} << 24;

/// Kept within black and white, and cut to a whole level.
uint8_t level_of(float value) {
  return value >= 255.0f ? 255 : value > 0.0f ? static_cast<uint8_t>(value) : 0;
}

template <class Change>
LevelTable table_of(Change change) {
  LevelTable table;
  for (int level = 0; level < 256; ++level)
    table.value[level] = change(static_cast<uint8_t>(level), static_cast<float>(level));
  return table;
}

/// Planes of one row; what is no multiple of a vector is left out.
size_t whole_vectors(size_t count) { return count / kVectorBytes * kVectorBytes; }

constexpr size_t kCurveBlock = 1024;

bool look_up_block(float* target, const float* source, size_t count, const uint8_t* levels,
                   const FractionCurve::Known* known) {
  uint32_t differences = 0;
  for (size_t i = 0; i < count; ++i) {
    const FractionCurve::Known& one = known[levels[i]];
    uint32_t bits;
    std::memcpy(&bits, source + i, sizeof bits);
    differences |= bits ^ one.bits;
    target[i] = one.value;
  }
  return differences == 0;
}

PlanarView row_of(const uint8_t* levels, size_t count) {
  PlanarView row;
  row.plane[0] = levels;
  row.stride = static_cast<ptrdiff_t>(count);
  row.height = 1;
  row.width = static_cast<int>(count);
  row.channels = 1;
  return row;
}

}  // namespace

LevelTable level_table(ValueMap map, const MapNumbers& numbers) {
  const float a = numbers.a, b = numbers.b, c = numbers.c;
  switch (map) {
    case ValueMap::scale:
      return table_of([=](uint8_t, float x) { return level_of(x * a); });
    case ValueMap::blend:
      return table_of([=](uint8_t, float x) { return level_of(__builtin_fmaf(b, c, x * a)); });
    case ValueMap::solarize:
      return table_of([=](uint8_t level, float x) {
        return static_cast<uint8_t>(x >= a ? 255 - level : level);
      });
    case ValueMap::posterize:
    case ValueMap::normalize:
      break;
  }
  return table_of([](uint8_t level, float) { return level; });
}

bool is_blend_sure(const MapNumbers& numbers) {
  const LevelTable once = level_table(ValueMap::blend, numbers);
  const float added = numbers.b * numbers.c;
  const LevelTable twice =
      table_of([&](uint8_t, float x) { return level_of(x * numbers.a + added); });
  return std::equal(std::begin(once.value), std::end(once.value), std::begin(twice.value));
}

LevelTable curve_table(const float* curve, float gain) {
  // torchvision's own number: almost 256, so that each level gets an equal share.
  constexpr float kLevels = static_cast<float>(255.0 + 1.0 - 1e-3);
  return table_of([=](uint8_t level, float) {
    const float value = gain == 1.0f ? curve[level] : std::clamp(curve[level] * gain, 0.0f, 1.0f);
    return level_of(value * kLevels);
  });
}

LevelTable stretch_table(uint8_t least, uint8_t most) {
  const bool is_flat = least == most;
  const float low = is_flat ? 0.0f : static_cast<float>(least);
  const float scale = is_flat ? 1.0f
                              : (static_cast<float>(most) - static_cast<float>(least)) *
                                    static_cast<float>(1.0 / 255);
  return table_of([=](uint8_t, float x) { return level_of((x - low) / scale); });
}

FractionCurve::FractionCurve(const float* fractions, const float* values) {
  for (int way = 0; way < kWays; ++way)
    for (int level = 0; level < 256; ++level) {
      Known& one = known[way][level];
      std::memcpy(&one.bits, fractions + 256 * way + level, sizeof one.bits);
      one.value = values[256 * way + level];
    }
}

bool look_up_fractions(float* target, const float* source, size_t count,
                       const FractionCurve& curve) {
  uint8_t levels[kCurveBlock];
  int way = 0;  // that of the last block: all of an image is mostly made in one way
  for (size_t begin = 0; begin < count; begin += kCurveBlock) {
    const size_t some = std::min(count - begin, kCurveBlock);
    PENSTOCK_PICK(nearest_levels)(levels, source + begin, some);
    int tries = 0;
    while (!look_up_block(target + begin, source + begin, some, levels, curve.known[way])) {
      if (++tries == FractionCurve::kWays) return false;
      way = 1 - way;
    }
  }
  return true;
}

void look_up_levels(uint8_t* target, const uint8_t* source, size_t count, const LevelTable& table) {
  Lut lut;
  std::copy(std::begin(table.value), std::end(table.value), lut.value[0]);
  const size_t whole = whole_vectors(count);
  for (size_t begin = 0; begin < whole; begin += kMostInRow) {
    const size_t some = std::min(whole - begin, kMostInRow);
    PlanarTarget row;
    row.plane[0] = target + begin;
    row.stride = static_cast<ptrdiff_t>(some);
    row.height = 1;
    row.width = static_cast<int>(some);
    row.channels = 1;
    apply_lut(row, row_of(source + begin, some), lut);
  }
  for (size_t i = whole; i < count; ++i) target[i] = table.value[source[i]];
}

void find_extremes(uint8_t& least, uint8_t& most, const uint8_t* source, size_t count) {
  ExtremeLanes lanes;
  std::fill(std::begin(lanes.least), std::end(lanes.least), source[0]);
  std::fill(std::begin(lanes.greatest), std::end(lanes.greatest), source[0]);
  const size_t whole = whole_vectors(count);
  for (size_t begin = 0; begin < whole; begin += kMostInRow) PENSTOCK_PICK(widen_extremes)
  (lanes, row_of(source + begin, std::min(whole - begin, kMostInRow)), 0, nullptr);
  least = *std::min_element(std::begin(lanes.least), std::end(lanes.least));
  most = *std::max_element(std::begin(lanes.greatest), std::end(lanes.greatest));
  for (size_t i = whole; i < count; ++i) {
    least = std::min(least, source[i]);
    most = std::max(most, source[i]);
  }
}

float mean_level(const uint8_t* source, size_t pixels) {
  uint32_t sum = 0;
  for (size_t i = 0; i < pixels; ++i) sum += source[i];
  return static_cast<float>(sum) / static_cast<float>(pixels);
}

float mean_gray(const Colours<const uint8_t>& source, size_t pixels) {
  constexpr size_t kBlock = 1024;
  uint8_t gray[kBlock];
  uint32_t sum = 0;
  for (size_t begin = 0; begin < pixels; begin += kBlock) {
    const size_t some = std::min(kBlock, pixels - begin);
    Colours<const uint8_t> part = source;
    for (const uint8_t*& first : part.first) first += static_cast<ptrdiff_t>(begin) * source.step;
    PENSTOCK_PICK(gray_levels)(gray, part, some);
    for (size_t i = 0; i < some; ++i) sum += gray[i];
  }
  return static_cast<float>(sum) / static_cast<float>(pixels);
}

}  // namespace penstock
