// Pillow's two filters for warps, in double precision and cut off, not rounded.
#pragma once

#include <cstdint>

namespace penstock {

/// Between `left` and `right`: the first step of a bilinear filter, and its second.
inline double between(double left, double right, double share) {
  return left + (right - left) * share;
}

/// A cubic through four neighbours at `share` of the way from the second to the third.
/// The order of the sums is Pillow's, which decides the last bits.
inline double cubic(double v1, double v2, double v3, double v4, double share) {
  const double p2 = -v1 + v3;
  const double p3 = 2 * (v1 - v2) + v3 - v4;
  const double p4 = -v1 + v2 - v3 + v4;
  return v2 + share * (p2 + share * (p3 + share * p4));
}

inline uint8_t cut_off(double level) {
  return level <= 0.0 ? 0 : level >= 255.0 ? 255 : static_cast<uint8_t>(level);
}

}  // namespace penstock
