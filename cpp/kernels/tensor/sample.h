// An image looked up at the places of a grid, as torch does it: affine_grid or its like by a matrix
// product, then grid_sample, which has zeros outside. In one pass, without the grid in memory.
//
// Pixels lie in scratch with four lanes, the colours and a 1 that says "inside", and with a border
// two wide, so that no place needs to be asked whether it is there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/dispatch.h"

namespace penstock {

/// From pixels of the result to places in the image, whose sides go from -1 to 1.
struct SampleGrid {
  int in_height = 0, in_width = 0;
  int out_height = 0, out_width = 0;
  float first_x = 0, first_y = 0;  // of the result's first pixel; others follow at distances of 1
  float across[3] = {};            // times (x, y, 1)
  float down[3] = {};
  bool is_perspective = false;  // then what they give is divided by this one's, and 1 subtracted
  float depth[3] = {};
  /// Whether the installed torch adds the products with y to those with x without rounding the
  /// former. That depends on the library that multiplies its matrices, and on the CPU.
  bool fused = false;
};

/// Where the values of an image lie; strides are in elements.
template <class T>
struct SampleSource {
  const T* data = nullptr;
  int channels = 3;  // 1 or 3
  ptrdiff_t channel_stride = 0;
  ptrdiff_t row_stride = 0;
  ptrdiff_t pixel_stride = 1;
};

/// `fill` is what lies outside, if `has_fill`; it is black otherwise.
struct SampleFill {
  bool has_fill = false;
  float colour[3] = {};
};

/// Memory to be used again for the next image.
struct SampleScratch {
  Buffer pixels;
};

/// Writes planes of out_height x out_width without gaps. Requires sides of at most 2^14, and for
/// bytes a fill between 0 and 255.
void sample_grid(uint8_t* target, const SampleSource<uint8_t>& source, const SampleGrid& grid,
                 bool bilinear, const SampleFill& fill, SampleScratch& scratch);
void sample_grid(float* target, const SampleSource<float>& source, const SampleGrid& grid,
                 bool bilinear, const SampleFill& fill, SampleScratch& scratch);

/// Pixels of the result are handled in blocks of neighbours in a row.
inline constexpr int kSampleBlock = 256;

/// The pixels with their border; `row` is the distance between rows.
template <class Pixel>
struct BorderedPixels {
  const Pixel* first = nullptr;  // that of the image, not of the border
  ptrdiff_t row = 0;
};

struct LanePixel {
  float lane[4];
};

/// A block of the result: its first pixel, how many there are, and where they are written.
template <class T>
struct SampleBlock {
  T* plane[3] = {};
  int channels = 3;
  int x = 0, y = 0;
  int count = 0;
};

PENSTOCK_VARIANTS(void nearest_words(const SampleBlock<uint8_t>& block,
                                     const BorderedPixels<uint32_t>& pixels,
                                     const SampleGrid& grid))
PENSTOCK_VARIANTS(void nearest_lanes(const SampleBlock<float>& block,
                                     const BorderedPixels<LanePixel>& pixels,
                                     const SampleGrid& grid))
PENSTOCK_VARIANTS(void bilinear_words(const SampleBlock<uint8_t>& block,
                                      const BorderedPixels<uint32_t>& pixels,
                                      const SampleGrid& grid, const SampleFill& fill))
PENSTOCK_VARIANTS(void bilinear_lanes(const SampleBlock<float>& block,
                                      const BorderedPixels<LanePixel>& pixels,
                                      const SampleGrid& grid, const SampleFill& fill))

/// Puts `count` pixels of a row side by side, the last lane being 1.
PENSTOCK_VARIANTS(void pack_words(uint32_t* target, const SampleSource<uint8_t>& row, int count))
PENSTOCK_VARIANTS(void pack_lanes(LanePixel* target, const SampleSource<float>& row, int count))

}  // namespace penstock
