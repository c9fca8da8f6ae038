// Which input samples each output sample is made of, along one axis, in Pillow's fixed point.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "kernels/resample.h"

namespace penstock {

/// Bits after the point of Pillow's 8-bit coefficients.
inline constexpr int kCoefficientBits = 22;

/// Taps are handled in quads: four samples, or four rows, at a time.
inline constexpr int kQuad = 4;

inline constexpr int kSpareCoefficients = 16;

/// One axis of a resize, of which only outputs [first, first + count) are wanted.
struct Axis {
  int in_size = 0;
  int out_size = 0;
  int first = 0;
  int count = 0;
  Filter filter = Filter::bilinear;
  bool mirrored = false;  // outputs are listed from the last one to the first
};

struct Span {
  int begin = 0;
  int end = 0;
};

/// The input samples that the wanted outputs depend on.
Span needed_span(const Axis& axis);

/// How a list of taps may be lined up with the input.
enum class Alignment {
  sample,  // a list may start anywhere, but never needs samples from in_size + kQuad - 1 on
  quad,    // every list starts at a multiple of kQuad from the span's begin
};

/// For output i: samples start[i] ... start[i] + kQuad * quads[i] - 1, counted from `span.begin`,
/// times coefficient[i * stride + 0 ...]; what lies outside Pillow's own list has coefficient 0.
/// quads[i] <= max_quads and stride == kQuad * max_quads. Starts are monotonic.
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
  Taps taps_;
  Buffer starts_;
  Buffer quads_;
  Buffer coefficients_;
  Buffer fixed_;
  Buffer weights_;
};

}  // namespace penstock
