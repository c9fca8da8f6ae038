// The two pass orders as streaming sinks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/final_pass/row_writer.h"
#include "kernels/resample.h"
#include "kernels/resample/row_kernels.h"
#include "kernels/resample/taps.h"

namespace penstock {

// The last few groups of rows, as many as one output row can depend on.

inline int round_up(int value, int step) { return (value + step - 1) / step * step; }

class GroupRing {
 public:
  /// Room for `groups` consecutive groups of `columns` columns.
  void begin(int groups, int columns) {
    mask_ = std::bit_ceil(static_cast<unsigned>(groups)) - 1;
    // One block more, because a channel that starts within a block may be written a block at a
    // time.
    group_bytes_ = (static_cast<size_t>(round_up(columns, kColumnBlock)) + kColumnBlock) * kQuad;
    memory_.reserve((size_t{mask_} + 1) * group_bytes_);
    pointers_.reserve<const uint8_t*>(groups);
  }

  uint8_t* group(int index) { return memory_.data() + (index & mask_) * group_bytes_; }

  /// Groups first ... first + count - 1, for RowKernels::vertical.
  const uint8_t* const* groups(int first, int count) {
    const uint8_t** pointer = pointers_.data<const uint8_t*>();
    for (int i = 0; i < count; ++i) pointer[i] = group(first + i);
    return pointer;
  }

 private:
  unsigned mask_ = 0;
  size_t group_bytes_ = 0;
  Buffer memory_;
  Buffer pointers_;
};

/// The four rows of one channel that start at row `y`; past the end the last row stands in, since
/// only samples with coefficient 0 are ever taken from there.
struct RowQuad {
  RowQuad(const PlanarView& rows, int channel, int y) {
    for (int r = 0; r < kQuad; ++r)
      row[r] = rows.row(channel, y + r < rows.height ? y + r : rows.height - 1);
  }
  const uint8_t* row[kQuad];
};

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
