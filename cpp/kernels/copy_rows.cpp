#include "kernels/copy_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/final_pass/row_writer.h"
#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock {
namespace {

/// Rows that feed_interleaved splits at a time: enough to amortise the call, few enough for L1.
constexpr int kRowsPerFeed = 2 * kBandRows;

class CopySink final : public RowSink {
 public:
  void begin(int channels, bool flip_horizontal, bool flip_vertical, const Output& output) {
    channels_ = channels;
    flip_horizontal_ = flip_horizontal;
    flip_vertical_ = flip_vertical;
    height_ = output.height;
    width_ = output.width;
    shuffle_ = &PENSTOCK_PICK(row_shuffle);
    writer_.begin(output, channels);
    if (flip_horizontal) mirrored_.reserve(channels * mirrored_stride());
  }

  void take(const PlanarView& rows, int first_row) override {
    for (int y = 0; y < rows.height; ++y) {
      const uint8_t* planes[3] = {};
      for (int c = 0; c < channels_; ++c) {
        planes[c] = rows.row(c, y);
        if (!flip_horizontal_) continue;
        uint8_t* mirrored = mirrored_.data() + c * mirrored_stride();
        shuffle_->mirror(mirrored, planes[c], width_);
        planes[c] = mirrored;
      }
      const int row = first_row + y;
      writer_.write(flip_vertical_ ? height_ - 1 - row : row, planes);
    }
    if (first_row + rows.height == height_) writer_.finish();
  }

 private:
  size_t mirrored_stride() const { return static_cast<size_t>(width_) + kRowSlack; }

  int channels_ = 0;
  int height_ = 0;
  int width_ = 0;
  bool flip_horizontal_ = false;
  bool flip_vertical_ = false;
  const RowShuffle* shuffle_ = nullptr;
  RowWriter writer_;
  Buffer mirrored_;
};

}  // namespace

struct CopyState {
  CopySink sink;
};

RowSink& begin_copy(CopyScratch& scratch, int in_channels, bool flip_horizontal, bool flip_vertical,
                    const Output& output) {
  CopySink& sink = scratch.state().sink;
  sink.begin(in_channels, flip_horizontal, flip_vertical, output);
  return sink;
}

void feed_planar(RowSink& sink, const PlanarView& image, const Region& region) {
  PlanarView band = image;
  band.height = region.height;
  band.width = region.width;
  for (int c = 0; c < image.channels; ++c) band.plane[c] = image.row(c, region.top) + region.left;
  sink.take(band, 0);
}

void feed_foreign_planes(RowSink& sink, const PlanarView& image, const Region& region,
                         Buffer& scratch) {
  // Behind a row of the region lie what is right of it, and the rows below.
  const ptrdiff_t right = image.width - region.left - region.width;
  const ptrdiff_t rows_needed =
      right >= kRowSlack ? 0 : (kRowSlack - right + image.stride - 1) / image.stride;
  const ptrdiff_t safe =
      std::clamp<ptrdiff_t>(image.height - rows_needed - region.top, 0, region.height);
  const int direct = static_cast<int>(safe == region.height ? safe : safe / kBandRows * kBandRows);
  if (direct > 0) feed_planar(sink, image, {region.top, region.left, direct, region.width});
  if (direct == region.height) return;
  const PlanarTarget rest =
      working_image(scratch, region.height - direct, region.width, image.channels);
  for (int c = 0; c < image.channels; ++c)
    for (int y = 0; y < rest.height; ++y)
      std::memcpy(rest.row(c, y), image.row(c, region.top + direct + y) + region.left,
                  static_cast<size_t>(region.width));
  sink.take(rest.view(), direct);
}

void feed_interleaved(RowSink& sink, const uint8_t* rgb, ptrdiff_t stride, const Region& region,
                      Buffer& scratch, int pixel_bytes) {
  const RowShuffle& shuffle = PENSTOCK_PICK(row_shuffle);
  const auto split = pixel_bytes == 4 ? shuffle.deinterleave_rgbx : shuffle.deinterleave;
  const ptrdiff_t row_bytes = static_cast<ptrdiff_t>(region.width) + kRowSlack;
  uint8_t* rows = scratch.reserve(3 * kRowsPerFeed * row_bytes);
  PlanarTarget band{{rows, rows + kRowsPerFeed * row_bytes, rows + 2 * kRowsPerFeed * row_bytes},
                    row_bytes,
                    0,
                    region.width,
                    3};
  for (int y = 0; y < region.height; y += kRowsPerFeed) {
    band.height = std::min(kRowsPerFeed, region.height - y);
    for (int r = 0; r < band.height; ++r)
      split(band.row(0, r), band.row(1, r), band.row(2, r),
            rgb + (region.top + y + r) * stride + ptrdiff_t{pixel_bytes} * region.left,
            region.width);
    sink.take(band.view(), y);
  }
}

void deinterleave_row(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgb, int width) {
  PENSTOCK_PICK(row_shuffle).deinterleave(red, green, blue, rgb, width);
}

}  // namespace penstock
