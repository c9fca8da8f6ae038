#include "kernels/resample/placement.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

constexpr double kLeastPart = 1e-3;  // of a sample, that counts in OpenCV's areas

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

bool is_identity(const Axis& axis) {
  return axis.in_size == axis.out_size && axis.box_begin == 0 &&
         axis.box_end == static_cast<float>(axis.in_size);
}

// Pillow steps along the axis by repeated addition, so the n-th position needs all before it.
template <class Visit>
void visit_nearest(const Axis& axis, Visit visit) {
  if (axis.weights == Weights::opencv) {
    const OpencvPlacement placement(axis);
    for (int i = 0; i < axis.count; ++i) visit(i, placement.nearest(axis.first + i));
    return;
  }
  const double scale = static_cast<double>(axis.in_size) / axis.out_size;
  double position = scale * 0.5;
  for (int output = 0; output < axis.first + axis.count; ++output) {
    if (output >= axis.first)
      visit(output - axis.first, std::min(static_cast<int>(position), axis.in_size - 1));
    position += scale;
  }
}

}  // namespace

Placement::Placement(const Axis& axis)
    : in_size_(axis.in_size),
      box_begin_(axis.box_begin),
      scale_(static_cast<double>(axis.box_end - axis.box_begin) / axis.out_size),
      filter_scale_(std::max(scale_, 1.0)),
      support_(support_of(axis.filter) * filter_scale_) {}

Span Placement::list(double center_of_output) const {
  const int begin = std::max(static_cast<int>(center_of_output - support_ + 0.5), 0);
  const int end = std::min(static_cast<int>(center_of_output + support_ + 0.5), in_size_);
  // Supports are at least half a sample wide, so this is for the reader's safety only.
  const int safe_begin = std::min(begin, in_size_ - 1);
  return {safe_begin, std::max(end, safe_begin + 1)};
}

DirectPlacement::DirectPlacement(const Axis& axis)
    : in_size_(axis.in_size),
      scale_(static_cast<double>(axis.in_size) / axis.out_size),
      support_(axis.filter == Filter::bicubic ? 2 : 1) {}

DirectPlacement::Place DirectPlacement::place(int output) const {
  const double centre = scale_ * (output + 0.5) - 0.5;
  const double position = support_ == 1 ? std::max(centre, 0.0) : centre;
  const int sample = std::min(static_cast<int>(std::floor(position)), in_size_ - 1);
  return {sample, std::clamp(position - sample, 0.0, 1.0)};
}

Span DirectPlacement::list(int output) const {
  const int first = first_tap(place(output));
  const int begin = std::clamp(first, 0, in_size_ - 1);
  return {begin, std::clamp(first + taps(), begin + 1, in_size_)};
}

OpencvPlacement::OpencvPlacement(const Axis& axis)
    : in_size_(axis.in_size),
      inverse_(static_cast<double>(axis.out_size) / axis.in_size),
      scale_(1.0 / inverse_),
      by_area_(axis.filter == Filter::box) {}

OpencvPlacement::Place OpencvPlacement::place(int output) const {
  if (by_area_) {
    const int sample = static_cast<int>(std::floor(output * scale_));
    const float past = static_cast<float>((output + 1) - (sample + 1) * inverse_);
    return {sample, past <= 0 ? 0.0f : past - std::floor(past)};
  }
  const float centre = static_cast<float>((output + 0.5) * scale_ - 0.5);
  const float sample = std::floor(centre);
  return {static_cast<int>(sample), centre - sample};
}

int OpencvPlacement::nearest(int output) const {
  return std::min(static_cast<int>(std::floor(output * scale_)), in_size_ - 1);
}

Span OpencvPlacement::list(int output) const {
  const int sample = place(output).sample;
  const int begin = std::clamp(sample, 0, in_size_ - 1);
  return {begin, std::clamp(sample + 2, begin + 1, in_size_)};
}

OpencvAreas::OpencvAreas(const Axis& axis, bool is_whole)
    : in_size_(axis.in_size),
      scale_(1.0 / (static_cast<double>(axis.out_size) / axis.in_size)),
      is_whole_(is_whole) {}

OpencvAreas::Cell OpencvAreas::cell(int output) const {
  const double begin = output * scale_, end = begin + scale_;
  const int last = std::min(static_cast<int>(std::floor(end)), in_size_ - 1);
  const int first = std::min(static_cast<int>(std::ceil(begin)), last);
  return {begin, end, std::min(scale_, in_size_ - begin), first, last};
}

Span OpencvAreas::list(int output) const {
  if (is_whole_) {
    const int each = static_cast<int>(std::nearbyint(scale_));
    return {output * each, (output + 1) * each};
  }
  const Cell c = cell(output);
  const int begin = c.first - c.begin > kLeastPart ? c.first - 1 : c.first;
  const int end = c.end - c.last > kLeastPart ? c.last + 1 : c.last;
  return {begin, std::max(end, begin + 1)};
}

float OpencvAreas::weight(int output, int sample) const {
  if (is_whole_) return 1.0f;
  const Cell c = cell(output);
  if (sample < c.first) return static_cast<float>((c.first - c.begin) / c.size);
  if (sample < c.last) return static_cast<float>(1.0 / c.size);
  return static_cast<float>(std::min(std::min(c.end - c.last, 1.0), c.size) / c.size);
}

bool is_copy(const Axis& axis) { return axis.filter == Filter::nearest || is_identity(axis); }

void place_lists(Span* lists, const Axis& axis) {
  if (is_identity(axis)) {
    for (int i = 0; i < axis.count; ++i) lists[i] = {axis.first + i, axis.first + i + 1};
  } else if (axis.filter == Filter::nearest) {
    visit_nearest(axis, [lists](int i, int sample) { lists[i] = {sample, sample + 1}; });
  } else if (axis.weights == Weights::torch_direct) {
    const DirectPlacement placement(axis);
    for (int i = 0; i < axis.count; ++i) lists[i] = placement.list(axis.first + i);
  } else {
    const Placement placement(axis);
    for (int i = 0; i < axis.count; ++i)
      lists[i] = placement.list(placement.center(axis.first + i));
  }
}

Span needed_span(const Axis& axis) {
  if (is_identity(axis)) return {axis.first, axis.first + axis.count};
  if (axis.filter == Filter::nearest) {
    Span span{axis.in_size, 0};
    visit_nearest(axis, [&span](int, int sample) {
      span = {std::min(span.begin, sample), std::max(span.end, sample + 1)};
    });
    return span;
  }
  if (axis.weights == Weights::torch_direct) {
    const DirectPlacement placement(axis);
    return {placement.list(axis.first).begin, placement.list(axis.first + axis.count - 1).end};
  }
  if (axis.is_area) {
    // Those that are weighted reach at least as far as those that are counted.
    const OpencvAreas areas(axis, false);
    return {areas.list(axis.first).begin, areas.list(axis.first + axis.count - 1).end};
  }
  if (axis.weights == Weights::opencv) {
    const OpencvPlacement placement(axis);
    return {placement.list(axis.first).begin, placement.list(axis.first + axis.count - 1).end};
  }
  const Placement placement(axis);
  return {placement.list(placement.center(axis.first)).begin,
          placement.list(placement.center(axis.first + axis.count - 1)).end};
}

}  // namespace penstock
