#include "kernels/resample/opencv_linear.h"

#include <algorithm>
#include <cmath>

#include "kernels/resample/sinks.h"

namespace penstock {
namespace {

constexpr float kUnits = 2048;

/// To the nearest, halves to the even one, as OpenCV rounds.
int16_t units(float weight) { return static_cast<int16_t>(std::lrintf(weight * kUnits)); }

PairWeights weights_of(float fraction) { return {units(1.0f - fraction), units(fraction)}; }

}  // namespace

void OpencvLinear::begin(const Axis& columns, const Axis& rows, const ResizeSpec& spec,
                         const Output& output) {
  kernels_ = &PENSTOCK_PICK(opencv_rows);
  channels_ = spec.in_channels;
  flip_vertical_ = spec.flip_vertical;
  if (tables_are_of_ != kernels_ || !(column_axis_ == columns) || !(row_axis_ == rows)) {
    tables_are_of_ = nullptr;  // whatever happens below, half-made tables are for nobody
    place_columns(columns);
    place_rows(rows);
    kernels_->prepare(columns_);
    column_axis_ = columns;
    row_axis_ = rows;
    tables_are_of_ = kernels_;
  }
  outputs_ = rows.count;
  next_output_ = 0;
  width_ = round_up(columns.count, kOpencvStep);
  kept_.reserve<int16_t>(size_t{2} * static_cast<size_t>(channels_) * static_cast<size_t>(width_));
  finished_.reserve(static_cast<size_t>(channels_) * static_cast<size_t>(width_) + kRowSlack);
  writer_.begin(output, channels_);
}

void OpencvLinear::place_columns(const Axis& axis) {
  const OpencvPlacement placement(axis);
  const Span span = needed_span(axis);
  const int padded = round_up(axis.count, kOpencvStep);
  int32_t* start = columns_.starts.reserve<int32_t>(padded);
  PairWeights* weights = columns_.weights.reserve<PairWeights>(padded);
  columns_.count = axis.count;
  columns_.samples = span.end - span.begin;
  for (int i = 0; i < axis.count; ++i) {
    const auto [sample, fraction] = placement.place(axis.first + i);
    // Across, what lies past an edge is the sample at the edge, whole.
    const bool is_past = sample < 0 || sample >= axis.in_size - 1;
    const int slot = axis.mirrored ? axis.count - 1 - i : i;
    start[slot] = std::clamp(sample, 0, axis.in_size - 1) - span.begin;
    weights[slot] = weights_of(is_past ? 0.0f : fraction);
  }
  std::fill(start + axis.count, start + padded, start[axis.count - 1]);
  std::fill(weights + axis.count, weights + padded, PairWeights{0, 0});
}

void OpencvLinear::place_rows(const Axis& axis) {
  const OpencvPlacement placement(axis);
  const int begin = needed_span(axis).begin;
  RowPair* pair = rows_.reserve<RowPair>(axis.count);
  for (int i = 0; i < axis.count; ++i) {
    const auto [sample, fraction] = placement.place(axis.first + i);
    // Down, the row at the edge is mixed with itself, which may lose a level.
    const auto existing = [&](int row) { return std::clamp(row, 0, axis.in_size - 1) - begin; };
    const PairWeights weights = weights_of(fraction);
    const int lower = weights.second == 0 ? sample : sample + 1;
    pair[i] = {existing(sample), existing(lower), weights};
  }
}

int16_t* OpencvLinear::kept_row(int row, int channel) {
  return kept_.data<int16_t>() + (static_cast<size_t>(row % 2) * static_cast<size_t>(channels_) +
                                  static_cast<size_t>(channel)) *
                                     static_cast<size_t>(width_);
}

void OpencvLinear::take(const PlanarView& rows, int first_row) {
  const RowPair* pair = rows_.data<RowPair>();
  for (int y = 0; y < rows.height && next_output_ < outputs_; ++y) {
    const int row = first_row + y;
    if (row < pair[next_output_].upper) continue;
    for (int c = 0; c < channels_; ++c)
      kernels_->across(kept_row(row, c), rows.row(c, y), columns_);
    while (next_output_ < outputs_ && pair[next_output_].lower == row) emit(next_output_++);
  }
}

void OpencvLinear::emit(int output) {
  const RowPair& pair = rows_.data<RowPair>()[output];
  uint8_t* row = finished_.data();
  kernels_->down(row, kept_row(pair.upper, 0), kept_row(pair.lower, 0), pair.weights,
                 width_ * channels_);
  const uint8_t* const planes[3] = {row, row + width_, row + 2 * width_};
  writer_.write(flip_vertical_ ? outputs_ - 1 - output : output, planes);
  if (output + 1 == outputs_) writer_.finish();
}

}  // namespace penstock
