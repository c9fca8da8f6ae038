#include "kernels/final_pass/whole_lines.h"

#include <numeric>

#include "kernels/final_pass/convert.h"
#include "kernels/row_move.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace penstock {
namespace {

int planes_of(const Output& output) { return output.layout == Layout::chw ? output.channels : 1; }

size_t row_bytes_of(const Output& output) {
  const int width = output.placement != nullptr ? output.placement->width : output.width;
  return static_cast<size_t>(width) * (output.channels / planes_of(output));
}

}  // namespace

int WholeLines::rows_of(const Output& output) {
#if defined(__x86_64__)
  if (!output.past_cache || output.element != Element::uint8 || output.layout == Layout::rgbx)
    return 0;
  const size_t row_bytes = row_bytes_of(output);
  const size_t rows = kCacheLine / std::gcd(size_t{kCacheLine}, row_bytes);
  const bool is_aligned = reinterpret_cast<uintptr_t>(output.data) % kCacheLine == 0 &&
                          (planes_of(output) == 1 || output.plane_stride % kCacheLine == 0);
  const bool is_whole = static_cast<size_t>(output.row_stride) == row_bytes;
  return is_aligned && is_whole && rows <= kMostRows ? static_cast<int>(rows) : 0;
#else
  (void)output;
  return 0;
#endif
}

void WholeLines::begin(const Output& output) {
  rows_ = rows_of(output);
  if (!is_of_use()) return;
  shuffle_ = &PENSTOCK_PICK(row_shuffle);
  planes_ = planes_of(output);
  row_bytes_ = row_bytes_of(output);
  data_ = static_cast<uint8_t*>(output.data);
  plane_stride_ = output.plane_stride;
  for (Kept& kept : kept_) kept = {};
  memory_.reserve(static_cast<size_t>(planes_) * kMostRows * row_bytes_);
}

void WholeLines::put(int y, int plane, const uint8_t* row) {
  Kept& kept = kept_[plane];
  const int group = y / rows_, within = y % rows_;
  if (kept.group != group) {
    store(plane);
    kept.group = group;
  }
  shuffle_->copy(kept_row(plane, within), row, row_bytes_);
  kept.filled |= 1u << within;
}

// Not before the next group begins: what was written just now cannot be read in larger pieces yet.
void WholeLines::store(int plane) {
  Kept& kept = kept_[plane];
  if (kept.filled == (1u << rows_) - 1) {
    shuffle_->stream(target_row(plane, kept.group * rows_), kept_row(plane, 0), rows_ * row_bytes_);
  } else {
    for (int row = 0; row < rows_; ++row)
      if ((kept.filled >> row & 1) != 0)
        shuffle_->copy(target_row(plane, kept.group * rows_ + row), kept_row(plane, row),
                       row_bytes_);
  }
  kept = {};
}

void WholeLines::finish() {
  if (!is_of_use()) return;
  for (int plane = 0; plane < planes_; ++plane) store(plane);
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace penstock
