// Pillow's resampling filters, operation for operation: the bits of a weight depend on the order.
#pragma once

#include <cmath>
#include <numbers>

namespace penstock {

struct BoxFilter {
  static constexpr double kSupport = 0.5;
  static double weight(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
};

struct BilinearFilter {
  static constexpr double kSupport = 1.0;
  static double weight(double x) {
    const double distance = x < 0.0 ? -x : x;
    return distance < 1.0 ? 1.0 - distance : 0.0;
  }
};

struct HammingFilter {
  static constexpr double kSupport = 1.0;
  static double weight(double x) {
    const double distance = x < 0.0 ? -x : x;
    if (distance == 0.0) return 1.0;
    if (distance >= 1.0) return 0.0;
    const double angle = distance * std::numbers::pi;
    // The window's constants are single precision in Pillow.
    return std::sin(angle) / angle * (double{0.54f} + double{0.46f} * std::cos(angle));
  }
};

struct BicubicFilter {
  static constexpr double kSupport = 2.0;
  static double weight(double x) {
    constexpr double a = -0.5;
    const double d = x < 0.0 ? -x : x;
    const double inner = ((a + 2.0) * d - (a + 3.0)) * d * d + 1;
    const double outer = (((d - 5) * d + 8) * d - 4) * a;
    return d < 1.0 ? inner : d < 2.0 ? outer : 0.0;
  }
};

struct LanczosFilter {
  static constexpr double kSupport = 3.0;
  static double weight(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

 private:
  static double sinc(double x) {
    if (x == 0.0) return 1.0;
    const double angle = x * std::numbers::pi;
    return std::sin(angle) / angle;
  }
};

}  // namespace penstock
