// The two pass orders as streaming sinks.
#pragma once

#include "base/image.h"
#include "kernels/final_pass/row_writer.h"
#include "kernels/resample.h"
#include "kernels/resample/group_ring.h"
#include "kernels/resample/row_kernels.h"
#include "kernels/resample/taps.h"

namespace penstock {

/// What the tables depend on.
struct TableKey {
  const RowKernels* kernels = nullptr;
  Axis columns;
  Axis rows;

  friend bool operator==(const TableKey&, const TableKey&) = default;
};

/// Everything a resize needs in either order; kept between images for its memory, and for its
/// tables if the next image has the same sizes.
struct ResampleJob {
  const RowKernels* kernels = nullptr;
  TableKey tables_are_for;
  int channels = 0;
  bool flip_vertical = false;
  TapBuilder column_taps;
  TapBuilder row_taps;
  ColumnTable columns;
  RowTable rows;
  GroupRing ring;
  Buffer finished;  // rows that wait for the next pass or the writer
  RowWriter writer;

  int output_rows() const { return rows.taps.count; }
  int target_row(int output) const { return flip_vertical ? output_rows() - 1 - output : output; }
  int first_group(int output) const { return rows.taps.start[output] / kQuad; }
  int end_group(int output) const { return first_group(output) + rows.taps.quads[output]; }
};

/// Pillow's usual order: every needed row is resized horizontally, then rows are combined.
class HorizontalFirst final : public RowSink {
 public:
  explicit HorizontalFirst(ResampleJob& job) : job_(job) {}
  void begin();
  void take(const PlanarView& rows, int first_row) override;

 private:
  void emit_ready_rows(int groups_done);

  ResampleJob& job_;
  int columns_ = 0;
  int next_output_ = 0;
};

/// Rows are combined first; the results are then resized horizontally, four at a time.
class VerticalFirst final : public RowSink {
 public:
  explicit VerticalFirst(ResampleJob& job) : job_(job) {}
  void begin();
  void take(const PlanarView& rows, int first_row) override;

 private:
  void combine_ready_rows(int groups_done);
  void emit_waiting_rows();
  uint8_t* waiting_row(int index) { return job_.finished.data() + index * waiting_bytes_; }

  ResampleJob& job_;
  int in_columns_ = 0;
  int out_columns_ = 0;
  size_t waiting_bytes_ = 0;
  int waiting_ = 0;
  int next_output_ = 0;
};

}  // namespace penstock
