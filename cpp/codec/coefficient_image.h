// A JPEG's quantised coefficients: everything its pixels depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock {

/// What the components mean.
enum class Colour : uint8_t { gray = 0, ycbcr = 1, rgb = 2 };

struct CoefficientComponent {
  int horizontal = 1;  // sampling factors
  int vertical = 1;
  uint16_t quant[64] = {};  // natural (row-major) order
  int block_rows = 0;       // of whole MCUs, dummy blocks at the edges included
  int block_columns = 0;
  std::vector<int16_t>
      coefficients;  // 64 per block in natural order; block rows, one after another

  int16_t* block(int row, int column) {
    return coefficients.data() + 64 * (size_t{1} * row * block_columns + column);
  }
  const int16_t* block(int row, int column) const {
    return coefficients.data() + 64 * (size_t{1} * row * block_columns + column);
  }
};

/// The first component has the largest sampling factors, and the others' divide them. A gray
/// image's factors are 1 and 1.
struct CoefficientImage {
  int height = 0;  // pixels
  int width = 0;
  int components = 0;  // 1 (gray) or 3
  Colour colour = Colour::gray;
  CoefficientComponent component[3];

  int mcu_rows() const { return component[0].block_rows / component[0].vertical; }
  int mcu_columns() const { return component[0].block_columns / component[0].horizontal; }
};

/// Sets the numbers of blocks from the sizes and sampling factors, and all coefficients to zero.
inline void allocate_blocks(CoefficientImage& image) {
  const auto divide_up = [](int value, int divisor) { return (value + divisor - 1) / divisor; };
  const int mcu_rows = divide_up(image.height, 8 * image.component[0].vertical);
  const int mcu_columns = divide_up(image.width, 8 * image.component[0].horizontal);
  for (int c = 0; c < image.components; ++c) {
    CoefficientComponent& component = image.component[c];
    component.block_rows = mcu_rows * component.vertical;
    component.block_columns = mcu_columns * component.horizontal;
    component.coefficients.assign(size_t{64} * component.block_rows * component.block_columns, 0);
  }
}

}  // namespace penstock
