#include "kernels/resample/taps.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

constexpr int32_t kOne = 1 << kCoefficientBits;

// If each coefficient is rounded up by half a unit, white stays at 255 for this many of them.
constexpr int kMostTapsWithoutOvershoot = (kOne / 2) / 128;

int quads_for(int samples) { return (samples + kQuad - 1) / kQuad; }

int length_of(const Span& list) { return list.end - list.begin; }

// Where the taps of wanted output i are kept.
int slot(int i, const Axis& axis) { return axis.mirrored ? axis.count - 1 - i : i; }

int longest_of(const Span* lists, int count) {
  int longest = 0;
  for (int i = 0; i < count; ++i) longest = std::max(longest, length_of(lists[i]));
  return longest;
}

}  // namespace

const Taps& TapBuilder::build(const Axis& axis, Alignment alignment) {
  Span* lists = lists_.reserve<Span>(axis.count);
  place_lists(lists, axis);
  const int longest = longest_of(lists, axis.count);
  taps_.span = {lists[0].begin, lists[axis.count - 1].end};
  taps_.count = axis.count;
  align(lists, axis, alignment);

  const size_t coefficients = static_cast<size_t>(axis.count) * taps_.stride + kSpareCoefficients;
  taps_.coefficient = coefficients_.reserve<int32_t>(coefficients);
  std::memset(coefficients_.data(), 0, coefficients * sizeof(int32_t));
  if (is_copy(axis))
    fill_with_ones(lists, axis);
  else
    fill_with_coefficients(lists, longest, axis);

  const bool has_negative_lobes = axis.filter == Filter::bicubic || axis.filter == Filter::lanczos;
  taps_.may_overshoot = has_negative_lobes || longest > kMostTapsWithoutOvershoot;
  return taps_;
}

void TapBuilder::align(const Span* lists, const Axis& axis, Alignment alignment) {
  int32_t* start = starts_.reserve<int32_t>(axis.count);
  int32_t* quads = quads_.reserve<int32_t>(axis.count);
  taps_.start = start;
  taps_.quads = quads;
  taps_.max_quads = 0;
  for (int i = 0; i < axis.count; ++i) {
    const int begin = lists[i].begin - taps_.span.begin;
    const int lead = alignment == Alignment::quad ? begin % kQuad : 0;
    start[slot(i, axis)] = begin - lead;
    quads[slot(i, axis)] = quads_for(lead + length_of(lists[i]));
    taps_.max_quads = std::max(taps_.max_quads, quads[slot(i, axis)]);
  }
  taps_.stride = kQuad * taps_.max_quads;
  if (alignment == Alignment::quad) return;
  const int last_start = std::max(0, length_of(taps_.span) - taps_.stride);
  for (int i = 0; i < axis.count; ++i) {
    start[i] = std::min(start[i], last_start);
    quads[i] = taps_.max_quads;
  }
}

int32_t* TapBuilder::coefficients_of(int i, const Span& list, const Axis& axis) {
  const int lead = list.begin - taps_.span.begin - taps_.start[slot(i, axis)];
  return coefficients_.data<int32_t>() + static_cast<size_t>(slot(i, axis)) * taps_.stride + lead;
}

void TapBuilder::fill_with_ones(const Span* lists, const Axis& axis) {
  for (int i = 0; i < axis.count; ++i) *coefficients_of(i, lists[i], axis) = kOne;
}

void TapBuilder::fill_with_coefficients(const Span* lists, int longest, const Axis& axis) {
  int32_t* fixed = fixed_.reserve<int32_t>(static_cast<size_t>(longest) * kBlockOutputs);
  double* weights = weights_.reserve<double>(static_cast<size_t>(longest) * kBlockOutputs);
  const Placement placement(axis);
  const ComputeBlock compute = PENSTOCK_PICK(compute_block_for)(axis.filter);
  OutputBlock block{};
  for (int first = 0; first < axis.count; first += kBlockOutputs) {
    const int outputs = std::min(kBlockOutputs, axis.count - first);
    for (int i = 0; i < kBlockOutputs; ++i) {
      const int output = first + std::min(i, outputs - 1);
      block.center[i] = placement.center(axis.first + output);
      block.begin[i] = lists[output].begin;
      block.length[i] = length_of(lists[output]);
    }
    compute(fixed, weights, block, longest_of(lists + first, outputs),
            1.0 / placement.filter_scale());
    for (int i = 0; i < outputs; ++i) {
      int32_t* target = coefficients_of(first + i, lists[first + i], axis);
      for (int t = 0; t < block.length[i]; ++t) target[t] = fixed[t * kBlockOutputs + i];
    }
  }
}

}  // namespace penstock
