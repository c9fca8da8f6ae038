// An image given by its coefficients: written as a JPEG for libjpeg, or reconstructed by us.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "base/image.h"
#include "codec/reconstruct.h"

namespace penstock::testing {

struct Sampling {
  int horizontal;
  int vertical;
};

struct CoefficientComponent {
  Sampling factors;
  int height;  // true size in samples
  int width;
  int block_rows;
  int block_columns;
  uint16_t quant[64];
  std::vector<int16_t> coefficients;  // block rows of block_columns * 64, natural order
};

struct CoefficientImage {
  int height;
  int width;
  Sampling largest;
  CoefficientComponent component[3];
};

struct alignas(64) Block {
  int16_t at[64] = {};
};
using BlockRow = std::vector<Block>;

inline int padded_blocks(int blocks) {
  return (blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup;
}

/// How wild the values are.
enum class Content {
  plain,    // smooth blocks, everyday quantisers
  dense,    // every coefficient set, clipping everywhere
  hostile,  // 16-bit quantisers: products and sums overflow
  row0,     // hostile, but only the first row of each block is set
};

inline CoefficientImage random_image(std::mt19937& random, int height, int width,
                                     const Sampling (&factors)[3], Content content) {
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  CoefficientImage image{height, width, {1, 1}, {}};
  for (const Sampling& f : factors) {
    image.largest.horizontal = std::max(image.largest.horizontal, f.horizontal);
    image.largest.vertical = std::max(image.largest.vertical, f.vertical);
  }
  const auto round_up = [](int size, int divisor) { return (size + divisor - 1) / divisor; };
  const bool wild = content == Content::hostile || content == Content::row0;
  for (int c = 0; c < 3; ++c) {
    CoefficientComponent& component = image.component[c];
    component.factors = factors[c];
    component.height = round_up(height * factors[c].vertical, image.largest.vertical);
    component.width = round_up(width * factors[c].horizontal, image.largest.horizontal);
    component.block_rows = round_up(component.height, 8);
    component.block_columns = round_up(component.width, 8);
    for (uint16_t& q : component.quant)
      q = static_cast<uint16_t>(wild ? draw(1, (1 << draw(1, 16)) - 1) : draw(1, 40));
    component.coefficients.resize(size_t{64} * component.block_rows * component.block_columns);
    for (size_t i = 0; i < component.coefficients.size(); ++i) {
      const int position = i % 64;
      int value = 0;
      if (content == Content::plain)
        value = position == 0 ? draw(-60, 60) : draw(0, 9) == 0 ? draw(-4, 4) : 0;
      else if (content == Content::dense)
        value = draw(-200, 200);
      else if (content == Content::hostile || position < 8)
        value = draw(-1023, 1023) / (1 << draw(0, 9));
      component.coefficients[i] = static_cast<int16_t>(value);
    }
  }
  return image;
}

/// Samples with readable slack around every row.
struct Plane {
  std::vector<uint8_t> bytes;
  SamplePlane samples;
};

/// A copy of rows [top, bottom) and columns [left, right) of `whole`, so that a use of any other
/// sample shows.
inline Plane window_of(const Plane& whole, int top, int bottom, int left, int right) {
  Plane part;
  part.samples = whole.samples;
  part.samples.top = top;
  part.samples.left = left;
  part.samples.stride = right - left + 2 * kRowSlack;
  part.bytes.assign(part.samples.stride * (bottom - top), 0xA5);
  part.samples.origin = part.bytes.data() + kRowSlack;
  for (int y = top; y < bottom; ++y) {
    const uint8_t* from = whole.samples.origin + y * whole.samples.stride;
    std::copy(from + left, from + right,
              part.bytes.data() + kRowSlack + (y - top) * part.samples.stride);
  }
  return part;
}

struct Planes {
  Plane plane[3];
};

inline Planes transform(const CoefficientImage& image, IdctRow idct_row) {
  Planes planes;
  for (int c = 0; c < 3; ++c) {
    const CoefficientComponent& component = image.component[c];
    const int padded = padded_blocks(component.block_columns);
    SamplePlane& samples = planes.plane[c].samples;
    samples.stride = padded * 8 + 2 * kRowSlack;
    planes.plane[c].bytes.resize(samples.stride * component.block_rows * 8);
    uint8_t* origin = planes.plane[c].bytes.data() + kRowSlack;
    samples.origin = origin;
    samples.height = component.height;
    samples.width = component.width;
    samples.horizontal_ratio = image.largest.horizontal / component.factors.horizontal;
    samples.vertical_ratio = image.largest.vertical / component.factors.vertical;

    BlockRow row(padded);
    for (int y = 0; y < component.block_rows; ++y) {
      for (int x = 0; x < component.block_columns; ++x)
        std::copy_n(component.coefficients.data() + 64 * (y * component.block_columns + x), 64,
                    row[x].at);
      idct_row(origin + y * 8 * samples.stride, samples.stride, row[0].at, component.block_columns,
               component.quant, c > 0);
    }
  }
  return planes;
}

/// Rows of red, green and blue bytes, one after the other, of a window of the image.
inline std::vector<uint8_t> to_rgb(const Planes& planes, RgbRow rgb_row, const Region& region) {
  const size_t padded = region.width + kRowSlack;
  std::vector<uint8_t> line(3 * padded), result;
  std::vector<int8_t> blue(region.width + kUpsampleSlack), red(blue.size());
  const SamplePlane chroma[2] = {planes.plane[1].samples, planes.plane[2].samples};
  for (int y = region.top; y < region.top + region.height; ++y) {
    rgb_row(line.data(), line.data() + padded, line.data() + 2 * padded, planes.plane[0].samples,
            chroma, y, region.left, region.left + region.width, {blue.data(), red.data()});
    for (int channel = 0; channel < 3; ++channel)
      result.insert(result.end(), line.begin() + channel * padded,
                    line.begin() + channel * padded + region.width);
  }
  return result;
}

}  // namespace penstock::testing
