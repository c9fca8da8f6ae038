#include "kernels/warp/bordered_image.h"

#include <algorithm>
#include <limits>

#include "kernels/warp/warp_rows.h"

namespace penstock {
namespace {

// What vectors may write behind a row without touching the next; and rows then start aligned.
constexpr ptrdiff_t kRowPixels = 16;

ptrdiff_t stride_of(int width) {
  constexpr ptrdiff_t kBorder = BorderedImage::kBorder;
  return (width + 2 * kBorder + kRowPixels + kRowPixels - 1) / kRowPixels * kRowPixels;
}

/// `finish` completes the border of a row.
template <class Finish>
BorderedImage make_bordered(const PlanarView& in, const WarpFrame& frame, const Outline& needed,
                            Buffer& memory, Finish finish) {
  constexpr int kBorder = BorderedImage::kBorder;
  const ptrdiff_t stride = stride_of(in.width);
  const ptrdiff_t rows = ptrdiff_t{in.height} + 2 * kBorder;
  uint32_t* const first =
      memory.reserve<uint32_t>(static_cast<size_t>(stride * rows)) + kBorder * stride + kBorder;
  const int green = in.channels == 3 ? 1 : 0, blue = in.channels == 3 ? 2 : 0;
  const WarpRows& kernels = warp_rows();
  constexpr int kTogether = 16;  // rows of which the outline is found at once
  Columns columns;
  for (int y = 0; y < in.height; ++y) {
    uint32_t* row = first + y * stride;
    if (y % kTogether == 0) columns = needed.needed(y, y + kTogether, 0, in.width);
    const auto [begin, end] = columns;
    if (begin < end)
      kernels.to_words(row + begin, in.row(0, y) + begin, in.row(green, y) + begin,
                       in.row(blue, y) + begin, end - begin);
    finish(row);
  }
  const ptrdiff_t origin = frame.in_top * stride + frame.in_left;
  return {first - origin, stride, frame.in_height, frame.in_width, static_cast<int32_t>(origin)};
}

}  // namespace

bool can_border(const PlanarView& in, const WarpFrame& frame) {
  const ptrdiff_t rows = ptrdiff_t{frame.in_height} + 2 * BorderedImage::kBorder;
  return rows * stride_of(in.width) + frame.in_width <= std::numeric_limits<int32_t>::max();
}

BorderedImage make_repeated_border(const PlanarView& in, const WarpFrame& frame,
                                   const Outline& needed, Buffer& memory) {
  constexpr int kBorder = BorderedImage::kBorder;
  const BorderedImage image = make_bordered(in, frame, needed, memory, [&](uint32_t* row) {
    std::fill_n(row - kBorder, kBorder, row[0]);
    std::fill_n(row + in.width, kBorder, row[in.width - 1]);
  });
  const auto repeat = [&](ptrdiff_t to, ptrdiff_t from) {
    uint32_t* const start = memory.data<uint32_t>();
    std::copy_n(start + from * image.stride, in.width + 2 * kBorder, start + to * image.stride);
  };
  for (int i = 0; i < kBorder; ++i) {
    repeat(i, kBorder);
    repeat(kBorder + in.height + i, kBorder + in.height - 1);
  }
  return image;
}

BorderedImage make_filled_border(const PlanarView& in, const WarpFrame& frame,
                                 const Outline& needed, uint32_t fill, Buffer& memory) {
  return make_bordered(in, frame, needed, memory, [fill](uint32_t* row) { row[-1] = fill; });
}

}  // namespace penstock
