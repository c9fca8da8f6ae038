#include <algorithm>
#include <cmath>

#include "kernels/warp/elastic.h"

namespace penstock {
namespace {

/// Half the width of torchvision's kernel for this sigma, which is odd: int(8 sigma + 1) or one
/// more.
int radius_for(double sigma) { return (static_cast<int>(8 * sigma + 1) | 1) / 2; }

/// The pixel of a row of `size` that lies at `i` when its ends are mirrors.
int reflected(int i, int size) {
  if (size == 1) return 0;
  const int period = 2 * (size - 1);
  const int within = (i % period + period) % period;
  return std::min(within, period - within);
}

void gaussian(float* weights, int radius, double sigma) {
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) sum += std::exp(-i * i / (2 * sigma * sigma));
  for (int i = -radius; i <= radius; ++i)
    weights[i + radius] = static_cast<float>(std::exp(-i * i / (2 * sigma * sigma)) / sum);
}

/// sum += weight * values.
void accumulate(float* sum, const float* values, float weight, int count) {
  for (int i = 0; i < count; ++i) sum[i] += weight * values[i];
}

struct Plane {
  float* values;
  int height;
  int width;

  float* row(int y) const { return values + static_cast<ptrdiff_t>(y) * width; }
};

/// `padded` has room for a row and the kernel's reach on both sides.
void smooth_across(const Plane& plane, const float* weights, int radius, float* padded) {
  for (int y = 0; y < plane.height; ++y) {
    float* row = plane.row(y);
    for (int x = -radius; x < plane.width + radius; ++x)
      padded[x + radius] = row[reflected(x, plane.width)];
    std::fill_n(row, plane.width, 0.0f);
    for (int tap = 0; tap <= 2 * radius; ++tap)
      accumulate(row, padded + tap, weights[tap], plane.width);
  }
}

void smooth_down(const Plane& target, const Plane& source, const float* weights, int radius) {
  for (int y = 0; y < target.height; ++y) {
    std::fill_n(target.row(y), target.width, 0.0f);
    for (int tap = 0; tap <= 2 * radius; ++tap)
      accumulate(target.row(y), source.row(reflected(y + tap - radius, source.height)),
                 weights[tap], target.width);
  }
}

/// torchvision's kernel is as wide as it is high, whatever the two sigmas are.
void smooth(const Plane& plane, int radius, const ElasticSpec& spec, Buffer& scratch) {
  const size_t pixels = static_cast<size_t>(plane.height) * plane.width;
  const size_t reach = 2 * static_cast<size_t>(radius);
  float* const weights = scratch.reserve<float>(reach + 1 + reach + plane.width + pixels);
  float* const padded = weights + reach + 1;
  if (spec.sigma_across > 0) {
    gaussian(weights, radius, spec.sigma_across);
    smooth_across(plane, weights, radius, padded);
  }
  if (spec.sigma_down > 0) {
    gaussian(weights, radius, spec.sigma_down);
    float* const copy = padded + reach + plane.width;
    std::copy_n(plane.values, pixels, copy);
    smooth_down(plane, {copy, plane.height, plane.width}, weights, radius);
  }
}

float between_minus_one_and_one(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-23f - 1.0f;
}

}  // namespace

void elastic_field(float* dx, float* dy, int height, int width, const ElasticSpec& spec,
                   PhiloxKey key, Buffer& scratch) {
  const uint64_t pixels = static_cast<uint64_t>(height) * width;
  for (uint64_t i = 0; i < pixels; ++i) {
    const PhiloxBlock words =
        philox4x32({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0}, key);
    dx[i] = between_minus_one_and_one(words[0]);
    dy[i] = between_minus_one_and_one(words[1]);
  }
  if (spec.sigma_across > 0)
    smooth({dx, height, width}, radius_for(spec.sigma_across), spec, scratch);
  if (spec.sigma_down > 0) smooth({dy, height, width}, radius_for(spec.sigma_down), spec, scratch);
  for (uint64_t i = 0; i < pixels; ++i) {
    dx[i] *= static_cast<float>(spec.alpha_across / 2);
    dy[i] *= static_cast<float>(spec.alpha_down / 2);
  }
}

}  // namespace penstock
