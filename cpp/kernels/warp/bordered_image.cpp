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

}  // namespace

bool can_border(const PlanarView& in) {
  const ptrdiff_t rows = ptrdiff_t{in.height} + 2 * BorderedImage::kBorder;
  return rows * stride_of(in.width) <= std::numeric_limits<int32_t>::max();
}

BorderedImage make_bordered(const PlanarView& in, Buffer& memory) {
  constexpr int kBorder = BorderedImage::kBorder;
  const ptrdiff_t stride = stride_of(in.width);
  const ptrdiff_t rows = ptrdiff_t{in.height} + 2 * kBorder;
  uint32_t* const start = memory.reserve<uint32_t>(static_cast<size_t>(stride * rows));
  const int green = in.channels == 3 ? 1 : 0, blue = in.channels == 3 ? 2 : 0;
  const WarpRows& kernels = warp_rows();

  for (int y = 0; y < in.height; ++y) {
    uint32_t* row = start + (y + kBorder) * stride + kBorder;
    kernels.to_words(row, in.row(0, y), in.row(green, y), in.row(blue, y), in.width);
    std::fill_n(row - kBorder, kBorder, row[0]);
    std::fill_n(row + in.width, kBorder, row[in.width - 1]);
  }
  const auto repeat = [&](ptrdiff_t to, ptrdiff_t from) {
    std::copy_n(start + from * stride, in.width + 2 * kBorder, start + to * stride);
  };
  for (int i = 0; i < kBorder; ++i) {
    repeat(i, kBorder);
    repeat(kBorder + in.height + i, kBorder + in.height - 1);
  }
  return {start + kBorder * stride + kBorder, stride, in.height, in.width};
}

}  // namespace penstock
