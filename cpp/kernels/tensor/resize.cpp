#include "kernels/tensor/resize.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

float linear_weight(float offset) {
  const float d = std::abs(offset);
  return d < 1 ? 1 - d : 0;
}

float cubic_weight(float offset) {
  constexpr float a = -0.5f;
  const float d = std::abs(offset);
  if (d < 1) return std::fma(std::fma(a + 2, d, -(a + 3)) * d, d, 1.0f);
  return d < 2 ? std::fma(std::fma(std::fma(a, d, -5 * a), d, 8 * a), d, -4 * a) : 0;
}

/// Where the samples of output `i` begin and end, and their weights, which add up to 1.
AxisWeights weigh(int in, int outputs, Filter filter, Buffer& places, Buffer& memory) {
  const bool is_cubic = filter == Filter::bicubic;
  const float scale = static_cast<float>(in) / static_cast<float>(outputs);
  const float half = is_cubic ? 2 : 1;
  const float support = scale >= 1 ? half * scale : half;
  const float inverse = scale >= 1 ? 1 / scale : 1;
  const int most = static_cast<int>(std::ceil(support)) * 2 + 1;
  int32_t* first = places.reserve<int32_t>(2 * static_cast<size_t>(outputs));
  int32_t* count = first + outputs;
  float* weights = memory.reserve<float>(static_cast<size_t>(outputs) * most);
  if (in == outputs) {  // then torch leaves the axis alone
    for (int i = 0; i < outputs; ++i) {
      first[i] = i;
      count[i] = 1;
      weights[static_cast<ptrdiff_t>(i) * most] = 1;
    }
    return {first, count, weights, most, outputs};
  }
  for (int i = 0; i < outputs; ++i) {
    const float centre = scale * (static_cast<float>(i) + 0.5f);
    first[i] = std::clamp(static_cast<int>(centre - support + 0.5f), 0, in - 1);
    const int end = std::min(static_cast<int>(centre + support + 0.5f), in);
    count[i] = std::clamp(end - first[i], 1, most);
    float* own = weights + static_cast<ptrdiff_t>(i) * most;
    float sum = 0;
    for (int j = 0; j < count[i]; ++j) {
      const double offset = static_cast<float>(j + first[i]) - centre;
      const auto scaled = static_cast<float>((offset + 0.5) * inverse);
      own[j] = is_cubic ? cubic_weight(scaled) : linear_weight(scaled);
      sum += own[j];
    }
    for (int j = 0; j < count[i] && sum != 0; ++j) own[j] /= sum;
  }
  return {first, count, weights, most, outputs};
}

}  // namespace

FloatResize::FloatResize(int in_height, int in_width, int out_height, int out_width, Filter filter,
                         FloatResizeScratch& scratch)
    : across_(weigh(in_width, out_width, filter, scratch.places[0], scratch.weights[0])),
      down_(weigh(in_height, out_height, filter, scratch.places[1], scratch.weights[1])),
      scratch_(scratch) {}

void FloatResize::run(float* target, const PlaneSource& source) const {
  const int width = across_.outputs;
  float* turned = scratch_.turned.reserve<float>(static_cast<size_t>(source.width) * kTurnedRows);
  float* result = scratch_.turned_result.reserve<float>(static_cast<size_t>(width) * kTurnedRows);
  float* rows = scratch_.rows.reserve<float>(static_cast<size_t>(source.height) * width);
  std::fill(turned, turned + static_cast<ptrdiff_t>(source.width) * kTurnedRows, 0.0f);
  for (int y = 0; y < source.height; y += kTurnedRows) {
    const int count = std::min(kTurnedRows, source.height - y);
    PlaneSource group = source;
    group.data += y * source.row_stride;
    PENSTOCK_PICK(turn_rows)(turned, group, count);
    PENSTOCK_PICK(sum_across)(result, turned, across_);
    PENSTOCK_PICK(turn_back)(rows + static_cast<ptrdiff_t>(y) * width, result, width, count);
  }
  for (int y = 0; y < down_.outputs; ++y)
    PENSTOCK_PICK(sum_down)(target + static_cast<ptrdiff_t>(y) * width, rows, width, down_, y);
}

}  // namespace penstock
