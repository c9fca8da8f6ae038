// Pillow's resampling filters, operation for operation: the bits of a weight depend on the order.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace penstock {
// Unnamed, so that code for one instruction set never ends up in a program path for another.
namespace {

/// As many numbers as one register holds; every operation rounds as it does for a single number.
#if defined(__AVX512F__)
inline constexpr int kVector = 8;
#elif defined(__AVX__)
inline constexpr int kVector = 4;
#else
inline constexpr int kVector = 2;
#endif
using Doubles = double __attribute__((vector_size(kVector * sizeof(double))));
using Ints = int32_t __attribute__((vector_size(kVector * sizeof(int32_t))));

inline Doubles absolute(Doubles x) { return x < 0.0 ? -x : x; }

/// For filters that need library functions.
template <class Filter>
Doubles weight_one_by_one(Doubles x) {
  Doubles weights;
  for (int i = 0; i < kVector; ++i) weights[i] = Filter::weight_of_one(x[i]);
  return weights;
}

struct BoxFilter {
  static Doubles weight(Doubles x) {
    const Doubles one = Doubles{} + 1.0;
    return ((x > -0.5) & (x <= 0.5)) ? one : Doubles{};
  }
};

struct BilinearFilter {
  static Doubles weight(Doubles x) {
    const Doubles distance = absolute(x);
    return distance < 1.0 ? 1.0 - distance : Doubles{};
  }
};

struct BicubicFilter {
  static Doubles weight(Doubles x) {
    constexpr double a = -0.5;
    const Doubles d = absolute(x);
    const Doubles inner = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
    const Doubles outer = (((d - 5.0) * d + 8.0) * d - 4.0) * a;
    return d < 1.0 ? inner : (d < 2.0 ? outer : Doubles{});
  }
};

struct HammingFilter {
  static Doubles weight(Doubles x) { return weight_one_by_one<HammingFilter>(x); }

  static double weight_of_one(double x) {
    const double distance = x < 0.0 ? -x : x;
    if (distance == 0.0) return 1.0;
    if (distance >= 1.0) return 0.0;
    const double angle = distance * std::numbers::pi;
    // The window's constants are single precision in Pillow.
    return std::sin(angle) / angle * (double{0.54f} + double{0.46f} * std::cos(angle));
  }
};

struct LanczosFilter {
  static Doubles weight(Doubles x) { return weight_one_by_one<LanczosFilter>(x); }

  static double weight_of_one(double x) {
    return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
  }

 private:
  static double sinc(double x) {
    if (x == 0.0) return 1.0;
    const double angle = x * std::numbers::pi;
    return std::sin(angle) / angle;
  }
};

}  // namespace
}  // namespace penstock
