// The last few groups of rows, as many as one output row can depend on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/resample/row_kernels.h"

namespace penstock {

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

}  // namespace penstock
