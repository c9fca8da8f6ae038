#include "kernels/resample/opencv_area.h"

#include <algorithm>
#include <cmath>

#include "kernels/resample/sinks.h"

namespace penstock {
namespace {

/// The samples along an axis that a whole number of outputs have; 0 where that is no whole number.
int whole_ratio(const Axis& axis) {
  const double scale = 1.0 / (static_cast<double>(axis.out_size) / axis.in_size);
  const double nearest = std::nearbyint(scale);
  return std::abs(scale - nearest) < 2.220446049250313e-16 ? static_cast<int>(nearest) : 0;
}

}  // namespace

void OpencvArea::begin(const Axis& columns, const Axis& rows, const ResizeSpec& spec,
                       const Output& output) {
  kernels_ = &PENSTOCK_PICK(opencv_area_rows);
  channels_ = spec.in_channels;
  flip_vertical_ = spec.flip_vertical;
  const int across = whole_ratio(columns), down = whole_ratio(rows);
  const bool is_whole = across > 0 && down > 0;
  end_ = !is_whole                    ? AreaEnd::weighted
         : (across == 2 && down == 2) ? AreaEnd::mean_of_four
                                      : AreaEnd::mean;
  factor_ = is_whole ? 1.0f / static_cast<float>(across * down) : 1.0f;
  if (tables_are_of_ != kernels_ || !(column_axis_ == columns) || !(row_axis_ == rows)) {
    tables_are_of_ = nullptr;  // whatever happens below, half-made tables are for nobody
    place_columns(columns);
    place_rows(rows);
    kernels_->prepare(columns_);
    tables_are_of_ = kernels_;
    column_axis_ = columns;
    row_axis_ = rows;
  }
  outputs_ = rows.count;
  next_output_ = 0;
  next_weight_ = 0;
  width_ = columns_.padded;
  const auto row_floats = static_cast<size_t>(channels_) * static_cast<size_t>(width_);
  const auto levels = static_cast<size_t>(columns_.samples) + static_cast<size_t>(columns_.taps);
  float* level = levels_.reserve<float>(levels);
  std::fill(level + columns_.samples, level + levels, 0.0f);
  resized_.reserve<float>(row_floats);
  sums_.reserve<float>(row_floats);
  finished_.reserve(row_floats + kRowSlack);
  writer_.begin(output, channels_);
}

void OpencvArea::place_columns(const Axis& axis) {
  const OpencvAreas areas(axis, end_ != AreaEnd::weighted);
  const Span span = needed_span(axis);
  const int padded = round_up(axis.count, kAreaStep);
  columns_.padded = padded;
  columns_.samples = span.end - span.begin;
  columns_.taps = 1;
  for (int i = 0; i < axis.count; ++i) {
    const Span own = areas.list(axis.first + i);
    columns_.taps = std::max(columns_.taps, own.end - own.begin);
  }
  int32_t* start = columns_.starts.reserve<int32_t>(static_cast<size_t>(padded));
  // Some variants take four taps together.
  const auto weights =
      static_cast<size_t>(round_up(columns_.taps, 4)) * static_cast<size_t>(padded);
  float* weight = columns_.weights.reserve<float>(weights);
  std::fill(weight, weight + weights, 0.0f);
  for (int i = 0; i < axis.count; ++i) {
    const Span own = areas.list(axis.first + i);
    const int slot = axis.mirrored ? axis.count - 1 - i : i;
    start[slot] = own.begin - span.begin;
    for (int sample = own.begin; sample < own.end; ++sample)
      weight[(sample - own.begin) * padded + slot] = areas.weight(axis.first + i, sample);
  }
  std::fill(start + axis.count, start + padded, start[axis.count - 1]);
}

void OpencvArea::place_rows(const Axis& axis) {
  const OpencvAreas areas(axis, end_ != AreaEnd::weighted);
  const int begin = needed_span(axis).begin;
  Span* span = row_spans_.reserve<Span>(static_cast<size_t>(axis.count));
  size_t weights = 0;
  for (int i = 0; i < axis.count; ++i) {
    span[i] = areas.list(axis.first + i);
    weights += static_cast<size_t>(span[i].end - span[i].begin);
  }
  float* weight = row_weights_.reserve<float>(weights);
  for (int i = 0; i < axis.count; ++i) {
    for (int row = span[i].begin; row < span[i].end; ++row)
      *weight++ = areas.weight(axis.first + i, row);
    span[i] = {span[i].begin - begin, span[i].end - begin};
  }
}

void OpencvArea::take(const PlanarView& rows, int first_row) {
  const Span* span = row_spans_.data<Span>();
  float* resized = resized_.data<float>();
  for (int y = 0; y < rows.height && next_output_ < outputs_; ++y) {
    const int row = first_row + y;
    if (row < span[next_output_].begin) continue;
    for (int c = 0; c < channels_; ++c)
      kernels_->across(resized + c * width_, rows.row(c, y), columns_, levels_.data<float>());
    // The last row of an output may be the first one of the next.
    while (next_output_ < outputs_ && row >= span[next_output_].begin) {
      kernels_->down(sums_.data<float>(), resized, row_weights_.data<float>()[next_weight_++],
                     width_ * channels_, row == span[next_output_].begin);
      if (row + 1 < span[next_output_].end) break;
      emit(next_output_++);
    }
  }
}

void OpencvArea::emit(int output) {
  uint8_t* row = finished_.data();
  kernels_->finish(row, sums_.data<float>(), end_, factor_, width_ * channels_);
  const uint8_t* const planes[3] = {row, row + width_, row + 2 * width_};
  writer_.write(flip_vertical_ ? outputs_ - 1 - output : output, planes);
  if (output + 1 == outputs_) writer_.finish();
}

}  // namespace penstock
