#include "kernels/tensor/sample.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

constexpr int kBorder = 2;

// What differs between bytes and floats.

uint32_t outside(uint32_t, const SampleFill& fill, bool bilinear) {
  uint32_t word = 0;
  if (fill.has_fill && !bilinear)
    for (int c = 0; c < 3; ++c)
      word |= static_cast<uint32_t>(std::nearbyint(fill.colour[c])) << (8 * c);
  return word;
}

LanePixel outside(LanePixel, const SampleFill& fill, bool bilinear) {
  LanePixel pixel{};
  if (fill.has_fill && !bilinear) std::copy(fill.colour, fill.colour + 3, pixel.lane);
  return pixel;
}

void pack(uint32_t* target, const SampleSource<uint8_t>& row, int count) {
  PENSTOCK_PICK(pack_words)(target, row, count);
}

void pack(LanePixel* target, const SampleSource<float>& row, int count) {
  PENSTOCK_PICK(pack_lanes)(target, row, count);
}

void sample_block(const SampleBlock<uint8_t>& block, const BorderedPixels<uint32_t>& pixels,
                  const SampleGrid& grid, bool bilinear, const SampleFill& fill) {
  if (bilinear)
    PENSTOCK_PICK(bilinear_words)(block, pixels, grid, fill);
  else
    PENSTOCK_PICK(nearest_words)(block, pixels, grid);
}

void sample_block(const SampleBlock<float>& block, const BorderedPixels<LanePixel>& pixels,
                  const SampleGrid& grid, bool bilinear, const SampleFill& fill) {
  if (bilinear)
    PENSTOCK_PICK(bilinear_lanes)(block, pixels, grid, fill);
  else
    PENSTOCK_PICK(nearest_lanes)(block, pixels, grid);
}

template <class Pixel, class T>
BorderedPixels<Pixel> with_border(Buffer& memory, const SampleSource<T>& source,
                                  const SampleGrid& grid, Pixel border) {
  const ptrdiff_t row = grid.in_width + 2 * kBorder;
  const ptrdiff_t rows = grid.in_height + 2 * kBorder;
  Pixel* all = memory.reserve<Pixel>(static_cast<size_t>(rows * row));
  std::fill(all, all + kBorder * row, border);
  std::fill(all + (rows - kBorder) * row, all + rows * row, border);
  for (int y = 0; y < grid.in_height; ++y) {
    Pixel* first = all + (y + kBorder) * row;
    std::fill(first, first + kBorder, border);
    SampleSource<T> from = source;
    from.data += y * source.row_stride;
    pack(first + kBorder, from, grid.in_width);
    std::fill(first + row - kBorder, first + row, border);
  }
  return {all + kBorder * row + kBorder, row};
}

template <class Pixel, class T>
void sample_with(T* target, const SampleSource<T>& source, const SampleGrid& grid, bool bilinear,
                 const SampleFill& fill, SampleScratch& scratch) {
  const auto pixels = with_border(scratch.pixels, source, grid, outside(Pixel{}, fill, bilinear));
  const ptrdiff_t plane = static_cast<ptrdiff_t>(grid.out_height) * grid.out_width;
  SampleBlock<T> block;
  block.channels = source.channels;
  for (block.y = 0; block.y < grid.out_height; ++block.y)
    for (block.x = 0; block.x < grid.out_width; block.x += kSampleBlock) {
      block.count = std::min(kSampleBlock, grid.out_width - block.x);
      for (int c = 0; c < source.channels; ++c)
        block.plane[c] =
            target + c * plane + static_cast<ptrdiff_t>(block.y) * grid.out_width + block.x;
      sample_block(block, pixels, grid, bilinear, fill);
    }
}

}  // namespace

void sample_grid(uint8_t* target, const SampleSource<uint8_t>& source, const SampleGrid& grid,
                 bool bilinear, const SampleFill& fill, SampleScratch& scratch) {
  sample_with<uint32_t>(target, source, grid, bilinear, fill, scratch);
}

void sample_grid(float* target, const SampleSource<float>& source, const SampleGrid& grid,
                 bool bilinear, const SampleFill& fill, SampleScratch& scratch) {
  sample_with<LanePixel>(target, source, grid, bilinear, fill, scratch);
}

}  // namespace penstock
