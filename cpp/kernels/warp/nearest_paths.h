// The three ways in which Pillow walks through an affine warp without a filter.
#pragma once

#include <cstdint>
#include <limits>

#include "base/image.h"
#include "kernels/resample.h"
#include "kernels/row_move.h"

namespace penstock {

/// Pillow rounds to 16.16 bits where all corners of the output fit into them. Numbers along a row
/// or a column are sums that wrap around, as unsigned numbers do.
struct FixedMatrix {
  uint32_t a, b, c, d, e, f;
};

/// What x86 makes of a conversion that C++ leaves open: the smallest integer.
inline int32_t to_int32(double value) {
  constexpr double kLimit = 2147483648.0;
  const bool fits = value > -kLimit - 1 && value < kLimit;
  return fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min();
}

/// Whether the pixel that holds `value` is one of `size`, as Pillow tells: -0.0 is, NaN is not.
inline bool is_inside(double value, int size) { return value >= 0.0 && value < size; }

inline bool only_scales(const double (&m)[6]) { return m[1] == 0 && m[3] == 0; }

bool fits_fixed(const double (&matrix)[6], int height, int width);

/// Requires fits_fixed.
FixedMatrix to_fixed(const double (&matrix)[6]);

/// Whether the matrix moves every pixel by whole pixels: all filters give the pixels themselves.
bool moves_whole_pixels(const double (&matrix)[6]);

/// Whether an affine warp to the size of the image moves its rows, each to another place; how, if
/// it does. Not everything that does so is found.
bool find_row_move(RowMove& move, const double (&matrix)[6], Filter filter, int height, int width);

// Nearest warps that move whole columns: copies, without a look at single pixels. Those that move
// whole rows are shifts (kernels/row_shuffle).

/// Whether every column of the result is a column of the source, moved up or down.
bool moves_columns(const FixedMatrix& matrix);

/// Requires moves_columns(matrix); may write up to kRowSlack bytes past the end of rows.
void copy_shifted_columns(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                          const uint8_t (&fill)[3]);

}  // namespace penstock
