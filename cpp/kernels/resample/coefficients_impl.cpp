// Pillow's coefficients, compiled once per instruction set.
#include "kernels/resample/coefficients.h"

#include <cstring>

#include "kernels/resample/filters.h"
#include "kernels/resample/taps.h"

namespace penstock::PENSTOCK_ISA {
namespace {

template <class Vector, class T>
Vector load_vector(const T* address) {
  Vector vector;
  std::memcpy(&vector, address, sizeof vector);
  return vector;
}

template <class F>
void compute_vector(int32_t* fixed, double* weights, const OutputBlock& block, int first,
                    int longest, double inverse_filter_scale) {
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
    const Doubles weight = load_vector<Doubles>(weights + t * kBlockOutputs + first) / divisor;
    const Doubles half = weight < 0.0 ? one * -0.5 : one * 0.5;
    const Ints rounded = __builtin_convertvector(half + weight * (1 << kCoefficientBits), Ints);
    std::memcpy(fixed + t * kBlockOutputs + first, &rounded, sizeof rounded);
  }
}

template <class F>
void compute_block(int32_t* fixed, double* weights, const OutputBlock& block, int longest,
                   double inverse_filter_scale) {
  for (int first = 0; first < kBlockOutputs; first += kVector)
    compute_vector<F>(fixed, weights, block, first, longest, inverse_filter_scale);
}

}  // namespace

ComputeBlock compute_block_for(Filter filter) {
  switch (filter) {
    case Filter::box:
      return compute_block<BoxFilter>;
    case Filter::hamming:
      return compute_block<HammingFilter>;
    case Filter::bicubic:
      return compute_block<BicubicFilter>;
    case Filter::lanczos:
      return compute_block<LanczosFilter>;
    case Filter::bilinear:
    case Filter::nearest:
      break;
  }
  return compute_block<BilinearFilter>;
}

}  // namespace penstock::PENSTOCK_ISA
