#include "kernels/resample/taps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/resample/coefficients.h"

namespace penstock {
namespace {

constexpr int32_t kOne = 1 << kCoefficientBits;

// Rounding each coefficient up by half a unit lifts a sum of this many white samples above 255.
constexpr int kMostTapsWithoutOvershoot = (kOne / 2) / 128;

bool is_copy(const Axis& axis) {
  return axis.filter == Filter::nearest || axis.in_size == axis.out_size;
}

double support_of(Filter filter) {
  switch (filter) {
    case Filter::box:
      return 0.5;
    case Filter::bicubic:
      return 2.0;
    case Filter::lanczos:
      return 3.0;
    case Filter::bilinear:
    case Filter::hamming:
    case Filter::nearest:
      break;
  }
  return 1.0;
}

// The geometry of one axis as Pillow computes it, in doubles and in this order.
struct Placement {
  explicit Placement(const Axis& axis)
      : in_size(axis.in_size),
        scale(static_cast<double>(axis.in_size) / axis.out_size),
        filter_scale(std::max(scale, 1.0)),
        support(support_of(axis.filter) * filter_scale) {}

  double center(int output) const { return (output + 0.5) * scale; }

  Span list(double center_of_output) const {
    const int begin = std::max(static_cast<int>(center_of_output - support + 0.5), 0);
    const int end = std::min(static_cast<int>(center_of_output + support + 0.5), in_size);
    // Never empty, so that whoever reads it finds a sample; rounding could only make it so.
    if (begin >= end) return {std::min(begin, in_size - 1), std::min(begin, in_size - 1) + 1};
    return {begin, end};
  }

  int in_size;
  double scale;
  double filter_scale;
  double support;
};

// Pillow steps along the axis by repeated addition, so the n-th position needs all before it.
template <class Visit>
void visit_nearest(const Axis& axis, Visit visit) {
  const double scale = static_cast<double>(axis.in_size) / axis.out_size;
  double position = scale * 0.5;
  for (int output = 0; output < axis.first + axis.count; ++output) {
    if (output >= axis.first)
      visit(output - axis.first, std::min(static_cast<int>(position), axis.in_size - 1));
    position += scale;
  }
}

int quads_for(int samples) { return (samples + kQuad - 1) / kQuad; }

}  // namespace

Span needed_span(const Axis& axis) {
  if (axis.in_size == axis.out_size) return {axis.first, axis.first + axis.count};
  if (axis.filter == Filter::nearest) {
    Span span{axis.in_size, 0};
    visit_nearest(axis, [&](int, int sample) {
      span.begin = std::min(span.begin, sample);
      span.end = std::max(span.end, sample + 1);
    });
    return span;
  }
  const Placement placement(axis);
  return {placement.list(placement.center(axis.first)).begin,
          placement.list(placement.center(axis.first + axis.count - 1)).end};
}

const Taps& TapBuilder::build(const Axis& axis, Alignment alignment) {
  const Span span = needed_span(axis);
  const int count = axis.count;
  int32_t* start = starts_.reserve<int32_t>(count);
  int32_t* quads = quads_.reserve<int32_t>(count);
  const Placement placement(axis);
  const auto slot = [&](int i) { return axis.mirrored ? count - 1 - i : i; };

  // First where each list lies and how long it is: start and quads hold begin and length for now.
  int longest = 1;
  int most_aligned = 1;
  const auto note = [&](int i, Span list) {
    start[slot(i)] = list.begin - span.begin;
    quads[slot(i)] = list.end - list.begin;
    longest = std::max(longest, list.end - list.begin);
    const int lead = alignment == Alignment::quad ? (list.begin - span.begin) % kQuad : 0;
    most_aligned = std::max(most_aligned, quads_for(lead + list.end - list.begin));
  };
  if (axis.in_size == axis.out_size) {
    for (int i = 0; i < count; ++i) note(i, {axis.first + i, axis.first + i + 1});
  } else if (axis.filter == Filter::nearest) {
    visit_nearest(axis, [&](int i, int sample) { note(i, {sample, sample + 1}); });
  } else {
    for (int i = 0; i < count; ++i) note(i, placement.list(placement.center(axis.first + i)));
  }

  const int max_quads = most_aligned;
  const int stride = kQuad * max_quads;
  const size_t coefficients = static_cast<size_t>(count) * stride + kSpareCoefficients;
  int32_t* coefficient = coefficients_.reserve<int32_t>(coefficients);
  std::memset(coefficient, 0, sizeof(int32_t) * coefficients);
  const int last_start = std::max(0, span.end - span.begin - stride);
  const auto aligned_start = [&](int begin) {
    return alignment == Alignment::quad ? begin / kQuad * kQuad : std::min(begin, last_start);
  };
  if (is_copy(axis)) {
    for (int i = 0; i < count; ++i)
      coefficient[static_cast<size_t>(i) * stride + start[i] - aligned_start(start[i])] = kOne;
  } else {
    int32_t* fixed = fixed_.reserve<int32_t>(static_cast<size_t>(longest) * kBlockOutputs);
    double* weights = weights_.reserve<double>(static_cast<size_t>(longest) * kBlockOutputs);
    const ComputeBlock compute = compute_block_for(axis.filter);
    OutputBlock block{};
    for (int first = 0; first < count; first += kBlockOutputs) {
      int block_longest = 0;
      for (int i = 0; i < kBlockOutputs; ++i) {
        const int output = std::min(first + i, count - 1);
        block.center[i] = placement.center(axis.first + output);
        block.begin[i] = start[slot(output)] + span.begin;
        block.length[i] = quads[slot(output)];
        block_longest = std::max(block_longest, block.length[i]);
      }
      compute(fixed, weights, block, block_longest, 1.0 / placement.filter_scale);
      for (int i = 0; i < std::min(kBlockOutputs, count - first); ++i) {
        const int begin = start[slot(first + i)];
        int32_t* target = coefficient + static_cast<size_t>(slot(first + i)) * stride + begin -
                          aligned_start(begin);
        for (int t = 0; t < block.length[i]; ++t) target[t] = fixed[t * kBlockOutputs + i];
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    const int begin = start[i];
    start[i] = aligned_start(begin);
    quads[i] = alignment == Alignment::quad ? quads_for(begin - start[i] + quads[i]) : max_quads;
  }

  const bool has_negative_lobes = axis.filter == Filter::bicubic || axis.filter == Filter::lanczos;
  taps_ = {
      span,  count, max_quads,  stride, has_negative_lobes || longest > kMostTapsWithoutOvershoot,
      start, quads, coefficient};
  return taps_;
}

}  // namespace penstock
