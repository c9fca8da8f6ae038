#include "kernels/resample/taps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/resample/filters.h"

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
      return BoxFilter::kSupport;
    case Filter::hamming:
      return HammingFilter::kSupport;
    case Filter::bicubic:
      return BicubicFilter::kSupport;
    case Filter::lanczos:
      return LanczosFilter::kSupport;
    case Filter::bilinear:
    case Filter::nearest:
      break;
  }
  return BilinearFilter::kSupport;
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

template <class F>
void compute_coefficients(int32_t* fixed, double* weights, const Placement& placement,
                          double center, int begin, int length) {
  const double inverse = 1.0 / placement.filter_scale;
  double sum = 0.0;
  for (int i = 0; i < length; ++i) {
    weights[i] = F::weight((i + begin - center + 0.5) * inverse);
    sum += weights[i];
  }
  for (int i = 0; i < length; ++i) {
    const double weight = sum != 0.0 ? weights[i] / sum : weights[i];
    fixed[i] = static_cast<int32_t>((weight < 0 ? -0.5 : 0.5) + weight * kOne);
  }
}

using Compute = void (*)(int32_t*, double*, const Placement&, double, int, int);

Compute compute_for(Filter filter) {
  switch (filter) {
    case Filter::box:
      return compute_coefficients<BoxFilter>;
    case Filter::hamming:
      return compute_coefficients<HammingFilter>;
    case Filter::bicubic:
      return compute_coefficients<BicubicFilter>;
    case Filter::lanczos:
      return compute_coefficients<LanczosFilter>;
    case Filter::bilinear:
    case Filter::nearest:
      break;
  }
  return compute_coefficients<BilinearFilter>;
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
  double* weights = weights_.reserve<double>(longest);
  const Compute compute = compute_for(axis.filter);
  const int last_start = std::max(0, span.end - span.begin - stride);
  for (int i = 0; i < count; ++i) {
    const int begin = start[slot(i)];
    const int length = quads[slot(i)];
    const int aligned =
        alignment == Alignment::quad ? begin / kQuad * kQuad : std::min(begin, last_start);
    int32_t* fixed = coefficient + static_cast<size_t>(slot(i)) * stride + (begin - aligned);
    if (is_copy(axis))
      *fixed = kOne;
    else
      compute(fixed, weights, placement, placement.center(axis.first + i), begin + span.begin,
              length);
    start[slot(i)] = aligned;
    quads[slot(i)] = alignment == Alignment::quad ? quads_for(begin - aligned + length) : max_quads;
  }

  const bool has_negative_lobes = axis.filter == Filter::bicubic || axis.filter == Filter::lanczos;
  taps_ = {
      span,  count, max_quads,  stride, has_negative_lobes || longest > kMostTapsWithoutOvershoot,
      start, quads, coefficient};
  return taps_;
}

}  // namespace penstock
