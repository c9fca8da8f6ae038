// Which input samples each output sample is made of, along one axis, in Pillow's fixed point.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/dispatch.h"
#include "kernels/resample.h"
#include "kernels/resample/placement.h"

namespace penstock {

/// Bits after the point of Pillow's 8-bit coefficients.
inline constexpr int kCoefficientBits = 22;

/// Taps are handled in quads: four samples, or four rows, at a time.
inline constexpr int kQuad = 4;

inline constexpr int kSpareCoefficients = 16;

/// How a list of taps may be lined up with the input.
enum class Alignment {
  sample,  // anywhere, but no list reaches further than kQuad - 1 samples past the span
  quad,    // every list starts at a multiple of kQuad from the span's begin
};

/// For output i: samples start[i] ... start[i] + kQuad * quads[i] - 1, counted from `span.begin`,
/// times coefficient[i * stride + 0 ...]; what lies outside Pillow's own list has coefficient 0.
/// quads[i] <= max_quads, and equal for Alignment::sample; stride == kQuad * max_quads.
/// Starts never decrease, or never increase if mirrored.
/// kSpareCoefficients more coefficients are readable past the last.
struct Taps {
  Span span;
  int count = 0;
  int max_quads = 0;
  int stride = 0;
  bool may_overshoot = false;  // sums may leave 0..255 and need clipping
  const int32_t* start = nullptr;
  const int32_t* quads = nullptr;
  const int32_t* coefficient = nullptr;
};

/// Owns the memory behind Taps, to be used again for the next image.
class TapBuilder {
 public:
  /// Valid until the next call.
  const Taps& build(const Axis& axis, Alignment alignment);

 private:
  void align(const Span* lists, const Axis& axis, Alignment alignment);
  void fill_with_ones(const Span* lists, const Axis& axis);
  void fill_with_coefficients(const Span* lists, int longest, const Axis& axis);
  void fill_like_torch(const Span* lists, int longest, const Axis& axis);
  /// These set the weights of all outputs, and return the largest one.
  double weigh_all(const Span* lists, int longest, const Axis& axis);
  double weigh_directly(const Span* lists, int longest, const Axis& axis);
  int32_t* coefficients_of(int i, const Span& list, const Axis& axis);

  Taps taps_;
  Buffer lists_;
  Buffer starts_;
  Buffer quads_;
  Buffer coefficients_;
  Buffer fixed_;
  Buffer weights_;
};

// Pillow's coefficients, eight outputs at a time.

inline constexpr int kBlockOutputs = 8;

/// Neighbouring outputs: where each one's centre and list of samples lie.
struct OutputBlock {
  double center[kBlockOutputs];
  int32_t begin[kBlockOutputs];
  int32_t length[kBlockOutputs];
};

/// Sets weights[t * kBlockOutputs + i] to weight t of output i, for t < longest, the longest length
/// of the block; past an output's own length it is 0. An output's weights add up to 1.
using WeighBlock = void (*)(double* weights, const OutputBlock& block, int longest,
                            double inverse_filter_scale);

PENSTOCK_VARIANTS(WeighBlock weigh_block_for(Filter filter))

/// Sets fixed[n] to weights[n] in units of 1 / one, rounded to the nearest, halves away from zero.
/// `count` is a multiple of kBlockOutputs.
PENSTOCK_VARIANTS(void round_weights(int32_t* fixed, const double* weights, int count, double one))

}  // namespace penstock
