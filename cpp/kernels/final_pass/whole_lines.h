// Rows of bytes stored past the cache, although a row alone may fill no whole cache lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "kernels/output.h"
#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock {

/// Keeps rows that follow each other until together they are whole lines, and stores these at once:
/// to store a part of a line, the processor would have to read all of it from memory first.
class WholeLines {
 public:
  /// How many rows make whole lines, if bytes are asked to go past the cache and few rows do; or 0.
  static int rows_of(const Output& output);

  /// Must be called for each image, whether or not it is of use there.
  void begin(const Output& output);

  /// Whether `put` may be called: where `rows_of` is not 0.
  bool is_of_use() const { return rows_ > 0; }

  /// Row `y` of a plane, once; interleaved pixels are one plane.
  void put(int y, int plane, const uint8_t* row);

  /// Stores what is left.
  void finish();

 private:
  static constexpr int kMostRows = 8;  // more would not stay in the first cache
  static constexpr int kNone = -1;

  struct Kept {
    int group = kNone;    // of rows that are whole lines together
    unsigned filled = 0;  // a bit for each of its rows that is there
  };

  uint8_t* kept_row(int plane, int row) {
    return memory_.data() + (static_cast<size_t>(plane) * kMostRows + row) * row_bytes_;
  }
  uint8_t* target_row(int plane, int row) const {
    return data_ + plane * plane_stride_ + static_cast<ptrdiff_t>(row) * row_bytes_;
  }
  void store(int plane);

  const RowShuffle* shuffle_ = nullptr;
  int rows_ = 0;  // of a group
  int planes_ = 0;
  size_t row_bytes_ = 0;
  uint8_t* data_ = nullptr;
  ptrdiff_t plane_stride_ = 0;
  Kept kept_[3];
  Buffer memory_;
};

}  // namespace penstock
