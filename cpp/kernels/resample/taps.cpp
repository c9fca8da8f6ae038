#include "kernels/resample/taps.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

constexpr int32_t kOne = 1 << kCoefficientBits;

// If each coefficient is rounded up by half a unit, white stays at 255 for this many of them.
constexpr int kMostTapsWithoutOvershoot = (kOne / 2) / 128;

// torch's weights fit 16 bits, with as many of them after the point as the largest one leaves room
// for.
int torch_bits(double largest) {
  constexpr double kLimit = 1 << 15;
  int bits = 0;
  while (bits < kCoefficientBits &&
         static_cast<double>(static_cast<int>(0.5 + largest * (1 << (bits + 1)))) < kLimit)
    ++bits;
  return bits;
}

// Keys' cubic as torch has it where it does not smooth.
double cubic_weight(double offset) {
  constexpr double a = -0.75;
  const double d = offset < 0 ? -offset : offset;
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

double linear_weight(double offset) {
  const double d = offset < 0 ? -offset : offset;
  return d < 1 ? 1 - d : 0;
}

int blocks_for(int outputs) { return (outputs + kBlockOutputs - 1) / kBlockOutputs; }

int quads_for(int samples) { return (samples + kQuad - 1) / kQuad; }

int length_of(const Span& list) { return list.end - list.begin; }

// Where the taps of wanted output i are kept.
int slot(int i, const Axis& axis) { return axis.mirrored ? axis.count - 1 - i : i; }

int longest_of(const Span* lists, int count) {
  int longest = 0;
  for (int i = 0; i < count; ++i) longest = std::max(longest, length_of(lists[i]));
  return longest;
}

// Where the outputs of a block lie, and Pillow's weights for them.
class BlockPlaces {
 public:
  explicit BlockPlaces(const Axis& axis)
      : axis_(axis), placement_(axis), weigh_(PENSTOCK_PICK(weigh_block_for)(axis.filter)) {}

  OutputBlock block(const Span* lists, int first) const {
    OutputBlock block{};
    for (int i = 0; i < kBlockOutputs; ++i) {
      const int output = std::min(first + i, axis_.count - 1);
      block.center[i] = placement_.center(axis_.first + output);
      block.begin[i] = lists[output].begin;
      block.length[i] = length_of(lists[output]);
    }
    return block;
  }

  void weigh(double* weights, const OutputBlock& block, int longest) const {
    weigh_(weights, block, longest, 1.0 / placement_.filter_scale());
  }

 private:
  const Axis& axis_;
  Placement placement_;
  WeighBlock weigh_;
};

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
  else if (axis.weights == Weights::pillow)
    fill_with_coefficients(lists, longest, axis);
  else
    fill_like_torch(lists, longest, axis);

  const bool has_negative_lobes = axis.filter == Filter::bicubic || axis.filter == Filter::lanczos;
  taps_.may_overshoot =
      has_negative_lobes || axis.weights != Weights::pillow || longest > kMostTapsWithoutOvershoot;
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
  const BlockPlaces places(axis);
  for (int first = 0; first < axis.count; first += kBlockOutputs) {
    const OutputBlock block = places.block(lists, first);
    const int outputs = std::min(kBlockOutputs, axis.count - first);
    const int most = longest_of(lists + first, outputs);
    places.weigh(weights, block, most);
    PENSTOCK_PICK(round_weights)(fixed, weights, most * kBlockOutputs, kOne);
    for (int i = 0; i < outputs; ++i) {
      int32_t* target = coefficients_of(first + i, lists[first + i], axis);
      for (int t = 0; t < block.length[i]; ++t) target[t] = fixed[t * kBlockOutputs + i];
    }
  }
}

double TapBuilder::weigh_all(const Span* lists, int longest, const Axis& axis) {
  const BlockPlaces places(axis);
  double* weights = weights_.data<double>();
  for (int first = 0; first < axis.count; first += kBlockOutputs)
    places.weigh(weights + static_cast<size_t>(first) * longest, places.block(lists, first),
                 longest);
  const size_t all = static_cast<size_t>(blocks_for(axis.count)) * kBlockOutputs * longest;
  return *std::max_element(weights, weights + all);
}

double TapBuilder::weigh_directly(const Span* lists, int longest, const Axis& axis) {
  const DirectPlacement placement(axis);
  const auto weight_of = axis.filter == Filter::bicubic ? cubic_weight : linear_weight;
  double* weights = weights_.data<double>();
  double largest = 0;
  for (int i = 0; i < axis.count; ++i) {
    double* own = weights + static_cast<size_t>(i / kBlockOutputs) * kBlockOutputs * longest +
                  i % kBlockOutputs;
    const DirectPlacement::Place place = placement.place(axis.first + i);
    const int first = placement.first_tap(place);
    for (int j = 0; j < placement.taps(); ++j) {
      // What lies past an edge counts for the last sample before it.
      const int sample = std::clamp(first + j, lists[i].begin, lists[i].end - 1);
      double& weight = own[(sample - lists[i].begin) * kBlockOutputs];
      weight += weight_of(first + j - place.sample - place.fraction);
      // Sums count as torch comes by them, also where a negative weight is yet to follow.
      largest = std::max(largest, weight);
    }
  }
  return largest;
}

void TapBuilder::fill_like_torch(const Span* lists, int longest, const Axis& axis) {
  const size_t all = static_cast<size_t>(blocks_for(axis.count)) * kBlockOutputs * longest;
  double* weights = weights_.reserve<double>(all);
  std::fill(weights, weights + all, 0.0);
  const bool is_direct = axis.weights == Weights::torch_direct;
  const double largest =
      is_direct ? weigh_directly(lists, longest, axis) : weigh_all(lists, longest, axis);
  const int bits = torch_bits(largest);
  int32_t* fixed = fixed_.reserve<int32_t>(all);
  PENSTOCK_PICK(round_weights)(fixed, weights, static_cast<int>(all), 1 << bits);
  for (int i = 0; i < axis.count; ++i) {
    const int32_t* own = fixed + static_cast<size_t>(i / kBlockOutputs) * kBlockOutputs * longest +
                         i % kBlockOutputs;
    int32_t* target = coefficients_of(i, lists[i], axis);
    for (int t = 0; t < length_of(lists[i]); ++t)
      target[t] = own[t * kBlockOutputs] * (1 << (kCoefficientBits - bits));
  }
}

}  // namespace penstock
