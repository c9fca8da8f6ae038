#include "kernels/warp/warp_displaced_scalar.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

constexpr int kMostTaps = 4;

/// The neighbours that count along one axis, and how much; those outside the image are left out.
struct Taps {
  int first = 0;
  int count = 0;
  float weight[kMostTaps] = {};

  float sum() const {
    float total = 0;
    for (int i = 0; i < count; ++i) total += weight[i];
    return total;
  }
};

/// Cubic convolution with a = -0.75, as torch's grid_sample.
void cubic_weights(float (&weight)[kMostTaps], float share) {
  constexpr float a = -0.75f;
  const auto near = [](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  weight[0] = far(share + 1);
  weight[1] = near(share);
  weight[2] = near(1 - share);
  weight[3] = far(2 - share);
}

Taps taps_at(float place, int size, Filter filter) {
  // Beyond reach of every filter; also where a conversion to int could not hold the place.
  if (!(place > -kMostTaps && place < static_cast<float>(size + kMostTaps))) return {};
  float weight[kMostTaps] = {1};
  int first = 0, count = 1;
  if (filter == Filter::nearest) {
    first = static_cast<int>(std::nearbyint(place));
  } else {
    first = static_cast<int>(std::floor(place));
    const float share = place - static_cast<float>(first);
    if (filter == Filter::bilinear) {
      count = 2;
      weight[0] = 1 - share;
      weight[1] = share;
    } else {
      count = kMostTaps;
      first -= 1;
      cubic_weights(weight, share);
    }
  }
  Taps taps;
  const int begin = std::max(first, 0), end = std::min(first + count, size);
  taps.first = begin;
  taps.count = std::max(end - begin, 0);
  for (int i = 0; i < taps.count; ++i) taps.weight[i] = weight[begin - first + i];
  return taps;
}

float weighted(const PlanarView& in, int channel, const Taps& down, const Taps& across) {
  float total = 0;
  for (int i = 0; i < down.count; ++i) {
    const uint8_t* row = in.row(channel, down.first + i) + across.first;
    float sum = 0;
    for (int j = 0; j < across.count; ++j) sum += across.weight[j] * row[j];
    total += down.weight[i] * sum;
  }
  return total;
}

}  // namespace

void warp_displaced_scalar(const PlanarTarget& out, const PlanarView& in, const float* dx,
                           const float* dy, Filter filter, const uint8_t (&fill)[3]) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x, ++dx, ++dy) {
      const Taps across = taps_at(static_cast<float>(x) + *dx, in.width, filter);
      const Taps down = taps_at(static_cast<float>(y) + *dy, in.height, filter);
      const float inside = across.sum() * down.sum();
      for (int c = 0; c < out.channels; ++c) {
        const float colour = fill[c];
        const float level = weighted(in, std::min(c, in.channels - 1), down, across);
        const float mixed = (level - colour) * inside + colour;
        out.row(c, y)[x] = static_cast<uint8_t>(std::clamp(std::nearbyint(mixed), 0.0f, 255.0f));
      }
    }
}

}  // namespace penstock
