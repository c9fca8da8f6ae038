// OpenCV's resize by areas, of bytes, as a streaming sink: each output is the mean of the samples
// that it covers, in part or whole. For outputs that are not larger than the image, along both
// axes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/final_pass/row_writer.h"
#include "kernels/resample.h"
#include "kernels/resample/opencv_area_rows.h"
#include "kernels/resample/placement.h"

namespace penstock {

/// Rows are resized across as they come, and added to the sums of the output that needs them.
class OpencvArea final : public RowSink {
 public:
  void begin(const Axis& columns, const Axis& rows, const ResizeSpec& spec, const Output& output);
  void take(const PlanarView& rows, int first_row) override;

 private:
  void place_columns(const Axis& axis);
  void place_rows(const Axis& axis);
  void emit(int output);

  const AreaRows* kernels_ = nullptr;
  const AreaRows* tables_are_of_ = nullptr;
  Axis column_axis_;
  Axis row_axis_;
  AreaTable columns_;
  Buffer row_spans_;    // Span of each output, counted from the first row that arrives
  Buffer row_weights_;  // float, of all spans, one after the other
  Buffer levels_;
  Buffer resized_;
  Buffer sums_;
  Buffer finished_;
  RowWriter writer_;
  AreaEnd end_ = AreaEnd::weighted;
  float factor_ = 1;
  int channels_ = 0;
  int width_ = 0;  // of a kept row
  int outputs_ = 0;
  int next_output_ = 0;
  size_t next_weight_ = 0;
  bool flip_vertical_ = false;
};

}  // namespace penstock
