// An output between canaries, with gaps between rows and planes that must stay as they were.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "check.h"
#include "kernels/output.h"

namespace penstock {

class GuardedOutput {
 public:
  GuardedOutput(int height, int width, int channels, Layout layout, Element element,
                const FinalPass* pass, int row_gap_elements, bool past_cache) {
    const int side_by_side = layout == Layout::rgbx ? 4 : layout == Layout::hwc ? channels : 1;
    row_bytes_ = static_cast<size_t>(width) * size_of(element) * side_by_side;
    row_stride_ = row_bytes_ + static_cast<size_t>(row_gap_elements) * size_of(element);
    rows_ = height * (layout == Layout::chw ? channels : 1);
    memory_.assign(rows_ * row_stride_ + 2 * kGuard + kAlignment, kCanary);
    const auto address = reinterpret_cast<uintptr_t>(memory_.data() + kGuard);
    data_ = memory_.data() + kGuard + (kAlignment - address % kAlignment) % kAlignment;
    output = {data_,
              static_cast<ptrdiff_t>(row_stride_),
              static_cast<ptrdiff_t>(row_stride_) * height,
              height,
              width,
              channels,
              layout,
              element,
              pass,
              past_cache};
  }

  /// The rows one after another, after a look at the canaries.
  std::vector<uint8_t> result() const {
    std::vector<uint8_t> rows;
    const uint8_t* row = data_;
    for (const uint8_t* p = memory_.data(); p < data_; ++p) CHECK(*p == kCanary);
    for (size_t y = 0; y < rows_; ++y, row += row_stride_) {
      rows.insert(rows.end(), row, row + row_bytes_);
      for (size_t x = row_bytes_; x < row_stride_; ++x) CHECK(row[x] == kCanary);
    }
    for (; row < memory_.data() + memory_.size(); ++row) CHECK(*row == kCanary);
    return rows;
  }

  Output output;

 private:
  static constexpr uint8_t kCanary = 0xA5;
  static constexpr size_t kGuard = 256;
  static constexpr size_t kAlignment = 64;

  size_t row_bytes_ = 0;
  size_t row_stride_ = 0;
  size_t rows_ = 0;
  std::vector<uint8_t> memory_;
  uint8_t* data_ = nullptr;
};

}  // namespace penstock
