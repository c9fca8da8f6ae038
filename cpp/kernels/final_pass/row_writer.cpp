#include "kernels/final_pass/row_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/image.h"
#include "kernels/colour/lut.h"
#include "kernels/row_move.h"

namespace penstock {
namespace {

constexpr int kMappedRows = 8;  // rows whose levels are mapped at a time, and stay in the cache

bool fills_cache_lines(const Output& output) {
  const int width = output.placement != nullptr ? output.placement->width : output.width;
  const ptrdiff_t row_bytes = static_cast<ptrdiff_t>(width) * size_of(output.element) *
                              (output.layout == Layout::hwc ? output.channels : 1);
  const ptrdiff_t plane_stride = output.layout == Layout::chw ? output.plane_stride : 0;
  return reinterpret_cast<uintptr_t>(output.data) % kCacheLine == 0 &&
         output.row_stride % kCacheLine == 0 && plane_stride % kCacheLine == 0 &&
         row_bytes % kCacheLine == 0;
}

}  // namespace

bool stores_past_cache(const Output& output) {
  return output.element == Element::uint8 ? WholeLines::rows_of(output) > 0
                                          : output.past_cache && fills_cache_lines(output);
}

// Both are inlined, because rows may be short.

// As many rows, and as far apart, as rows_ says.
[[gnu::always_inline]] inline void RowWriter::put_plane(uint8_t* target, int y,
                                                        const uint8_t* source, int channel) {
  if (convert_ == nullptr) return put_bytes(target, y, source, channel);
  rows_.target = target;
  rows_.source = source;
  if (converted_ != nullptr) {
    const int c = in_channels_ == 1 ? 0 : channel;
    rows_.levels = converted_->table.value[c];
    rows_.change = converted_->changes_bits[c] ? &converted_->change[c] : nullptr;
  }
  convert_(rows_, *output_.pass, channel, past_cache_);
}

// Planes are passed one by one: a struct of them, copied right after it was filled, makes the
// processor wait for each row.
[[gnu::always_inline]] inline void RowWriter::put(int y, const uint8_t* red, const uint8_t* green,
                                                  const uint8_t* blue, ptrdiff_t stride, int rows) {
  uint8_t* target = static_cast<uint8_t*>(output_.data) + y * output_.row_stride;
  rows_.source_stride = stride;
  rows_.rows = rows;
  if (in_channels_ == 1) {
    green = blue = red;
  } else if (output_.blue_first) {
    std::swap(red, blue);
  }
  if (output_.layout == Layout::chw || (output_.layout == Layout::hwc && output_.channels == 1)) {
    put_plane(target, y, red, 0);
    if (output_.channels == 1) return;
    put_plane(target + output_.plane_stride, y, green, 1);
    put_plane(target + 2 * output_.plane_stride, y, blue, 2);
  } else {
    for (int r = 0; r < rows; ++r)
      put_interleaved(target + r * output_.row_stride, y + r, red + r * stride, green + r * stride,
                      blue + r * stride);
  }
}

void RowWriter::begin(const Output& output, int in_channels) {
  output_ = output;
  if (output.placement != nullptr) {
    output_.height = output.placement->height;
    output_.width = output.placement->width;
  }
  in_channels_ = in_channels;
  given_width_ = output.width;
  shuffle_ = &PENSTOCK_PICK(row_shuffle);
  convert_ = nullptr;
  if (output.element != Element::uint8) convert_ = converter_for(output.element, *output.pass);
  past_cache_ = convert_ != nullptr && stores_past_cache(output);
  lines_.begin(output_);
  rows_ = {nullptr, output.row_stride, nullptr, 0, 0, output_.width, nullptr, nullptr};
  const bool converts_mapped = output.levels != nullptr && convert_ != nullptr &&
                               output.layout == Layout::chw && !output.blue_first;
  maps_apart_ = output.levels != nullptr && !converts_mapped;
  converted_ = converts_mapped ? output.levels : nullptr;
  if (output.watch != nullptr) output.watch->start();
  if (output.layout == Layout::hwc && output.channels == 3)
    pixels_.reserve(3 * (static_cast<size_t>(output_.width) + kRowSlack));
  if (output.placement != nullptr) {
    placed_row_ = working_image(placed_, 1, output_.width, in_channels);
    const int first = -output.placement->move.down, end = first + output.height;
    for (int y = 0; y < std::min(first, output_.height); ++y) put_fill(y);
    for (int y = std::max(end, 0); y < output_.height; ++y) put_fill(y);
  }
}

void RowWriter::write(int y, const uint8_t* const given[3]) {
  if (output_.placement != nullptr)
    put_placed(y, {{given[0], given[1], given[2]}, 0, 1, given_width_, in_channels_});
  else if (maps_apart_)
    put_mapped(y, {{given[0], given[1], given[2]}, 0, 1, given_width_, in_channels_});
  else
    put(y, given[0], given[1], given[2], 0, 1);
  if (output_.watch != nullptr)
    output_.watch->see({{given[0], given[1], given[2]}, 0, 1, given_width_, in_channels_});
  if (output_.beside != nullptr) output_.beside->step(1);
}

void RowWriter::write_rows(int y, const PlanarView& rows) {
  if (output_.placement != nullptr)
    put_placed(y, rows);
  else
    put_here(y, rows);
  if (output_.watch != nullptr) output_.watch->see(rows);
  if (output_.beside != nullptr) output_.beside->step(rows.height);
}

void RowWriter::put_fill(int y) {
  const PlanarView nothing{{}, 0, 0, 0, in_channels_};
  shuffle_->shift(placed_row_, nothing, 0, 0, 0, output_.placement->fill);
  put_here(y, placed_row_.view());
}

// Rows are moved one by one, and stay in the first cache.
void RowWriter::put_placed(int y, const PlanarView& rows) {
  const Placement& placement = *output_.placement;
  for (int r = 0; r < rows.height; ++r) {
    const int to = y + r - placement.move.down;
    shuffle_->shift(placed_row_, rows, 0, r, placement.move.across(to), placement.fill);
    put_here(to, placed_row_.view());
  }
}

void RowWriter::put_here(int y, const PlanarView& rows) {
  if (maps_apart_)
    put_mapped(y, rows);
  else
    put(y, rows.plane[0], rows.plane[1], rows.plane[2], rows.stride, rows.height);
}

// Levels are mapped a few rows at a time.
void RowWriter::put_mapped(int y, const PlanarView& rows) {
  for (int done = 0; done < rows.height; done += kMappedRows) {
    const int count = std::min(kMappedRows, rows.height - done);
    const PlanarTarget mapped = working_image(mapped_, count, rows.width, rows.channels);
    output_.levels->apply(mapped, rows_of(rows, done, count));
    put(y + done, mapped.plane[0], mapped.plane[1], mapped.plane[2], mapped.stride, count);
  }
}

void RowWriter::finish() {
  lines_.finish();
#if defined(__x86_64__)
  if (past_cache_) _mm_sfence();
#endif
}

void RowWriter::put_bytes(uint8_t* target, int y, const uint8_t* source, int channel) {
  for (int r = 0; r < rows_.rows; ++r) {
    if (lines_.is_of_use())
      lines_.put(y + r, channel, source);
    else
      std::memcpy(target, source, static_cast<size_t>(output_.width));
    target += output_.row_stride;
    source += rows_.source_stride;
  }
}

void RowWriter::put_interleaved(uint8_t* target, int y, const uint8_t* red, const uint8_t* green,
                                const uint8_t* blue) {
  if (output_.layout == Layout::rgbx) {
    shuffle_->interleave_rgbx(target, red, green, blue, output_.width);
    return;
  }
  uint8_t* pixels = pixels_.data();
  shuffle_->interleave(pixels, red, green, blue, output_.width);
  const int count = 3 * output_.width;
  if (convert_ != nullptr)
    convert_({target, 0, pixels, 0, 1, count}, *output_.pass, kInterleaved, past_cache_);
  else if (lines_.is_of_use())
    lines_.put(y, 0, pixels);
  else
    std::memcpy(target, pixels, static_cast<size_t>(count));
}

}  // namespace penstock
