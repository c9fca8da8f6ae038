// OpenCV's bilinear resize of bytes as a streaming sink.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/final_pass/row_writer.h"
#include "kernels/resample.h"
#include "kernels/resample/opencv_rows.h"
#include "kernels/resample/placement.h"

namespace penstock {

/// Rows that an output needs are resized across as they come; the last two are kept.
class OpencvLinear final : public RowSink {
 public:
  void begin(const Axis& columns, const Axis& rows, const ResizeSpec& spec, const Output& output);
  void take(const PlanarView& rows, int first_row) override;

 private:
  /// The two rows of an output, counted from the first one that arrives.
  struct RowPair {
    int32_t upper;
    int32_t lower;
    PairWeights weights;
  };

  void place_columns(const Axis& axis);
  void place_rows(const Axis& axis);
  void emit(int output);
  int16_t* kept_row(int row, int channel);

  const OpencvRows* kernels_ = nullptr;
  const OpencvRows* tables_are_of_ = nullptr;
  Axis column_axis_;
  Axis row_axis_;
  PairTable columns_;
  Buffer rows_;
  Buffer kept_;
  Buffer finished_;
  RowWriter writer_;
  int channels_ = 0;
  int width_ = 0;  // of a kept row
  int outputs_ = 0;
  int next_output_ = 0;
  bool flip_vertical_ = false;
};

}  // namespace penstock
