// Loops that a compiler makes vectors of, where the set has some.
#include <cstring>

#include "kernels/resample/opencv_area_rows.h"

namespace penstock::PENSTOCK_ISA {
namespace {

void across(float* __restrict target, const uint8_t* __restrict row, const AreaTable& table,
            float* __restrict levels) {
  const int32_t* __restrict start = table.starts.data<int32_t>();
  const float* __restrict weights = table.weights.data<float>();
  const int columns = table.padded;
  for (int i = 0; i < table.samples; ++i) levels[i] = static_cast<float>(row[i]);
  for (int x = 0; x < columns; ++x) target[x] = levels[start[x]] * weights[x];
  for (int j = 1; j < table.taps; ++j) {
    weights += columns;
    const float* __restrict shifted = levels + j;
    for (int x = 0; x < columns; ++x) target[x] += shifted[start[x]] * weights[x];
  }
}

void down(float* __restrict sums, const float* __restrict row, float weight, int columns,
          bool is_first) {
  if (is_first)
    for (int x = 0; x < columns; ++x) sums[x] = row[x] * weight;
  else
    for (int x = 0; x < columns; ++x) sums[x] += row[x] * weight;
}

/// The nearest whole number of 0 to 255, halves to the even one: beyond 2^23, floats have no
/// halves.
inline uint8_t nearest(float value) {
  const float shifted = value + 12582912.0f;
  int32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  return static_cast<uint8_t>(bits);
}

void finish(uint8_t* __restrict target, const float* __restrict sums, AreaEnd end, float factor,
            int columns) {
  if (end == AreaEnd::mean_of_four)
    for (int x = 0; x < columns; ++x)
      target[x] = static_cast<uint8_t>((static_cast<int>(sums[x]) + 2) >> 2);
  else
    for (int x = 0; x < columns; ++x) target[x] = nearest(sums[x] * factor);
}

}  // namespace

const AreaRows opencv_area_rows{across, down, finish};

}  // namespace penstock::PENSTOCK_ISA
