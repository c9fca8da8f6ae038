// Pillow's resampling filters and coefficients, operation for operation: the bits of a weight
// depend on the order. Compiled once per instruction set.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "kernels/resample/taps.h"

namespace penstock::PENSTOCK_ISA {
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

template <class Vector, class T>
Vector load_vector(const T* address) {
  Vector vector;
  std::memcpy(&vector, address, sizeof vector);
  return vector;
}

template <class F>
void weigh_vector(double* weights, const OutputBlock& block, int first, int longest,
                  double inverse_filter_scale) {
  const auto center = load_vector<Doubles>(block.center + first);
  const auto begin = load_vector<Ints>(block.begin + first);
  const auto length = __builtin_convertvector(load_vector<Ints>(block.length + first), Doubles);
  const Doubles one = Doubles{} + 1.0;

  Doubles sum{};
  for (int t = 0; t < longest; ++t) {
    const Doubles offset = __builtin_convertvector(t + begin, Doubles) - center + 0.5;
    const Doubles weight = F::weight(offset * inverse_filter_scale);
    const Doubles own = static_cast<double>(t) < length ? weight : Doubles{};
    std::memcpy(weights + t * kBlockOutputs + first, &own, sizeof own);
    sum += own;
  }
  const Doubles divisor = sum != 0.0 ? sum : one;
  for (int t = 0; t < longest; ++t) {
    double* place = weights + t * kBlockOutputs + first;
    const Doubles weight = load_vector<Doubles>(place) / divisor;
    std::memcpy(place, &weight, sizeof weight);
  }
}

template <class F>
void weigh_block(double* weights, const OutputBlock& block, int longest,
                 double inverse_filter_scale) {
  for (int first = 0; first < kBlockOutputs; first += kVector)
    weigh_vector<F>(weights, block, first, longest, inverse_filter_scale);
}

}  // namespace

WeighBlock weigh_block_for(Filter filter) {
  switch (filter) {
    case Filter::box:
      return weigh_block<BoxFilter>;
    case Filter::hamming:
      return weigh_block<HammingFilter>;
    case Filter::bicubic:
      return weigh_block<BicubicFilter>;
    case Filter::lanczos:
      return weigh_block<LanczosFilter>;
    case Filter::bilinear:
    case Filter::nearest:
      break;
  }
  return weigh_block<BilinearFilter>;
}

void round_weights(int32_t* fixed, const double* weights, int count, double one) {
  const Doubles up = Doubles{} + 0.5;
  for (int n = 0; n < count; n += kVector) {
    const auto weight = load_vector<Doubles>(weights + n);
    const Doubles half = weight < 0.0 ? -up : up;
    const Ints rounded = __builtin_convertvector(half + weight * one, Ints);
    std::memcpy(fixed + n, &rounded, sizeof rounded);
  }
}

}  // namespace penstock::PENSTOCK_ISA
