// The three ways in which Pillow walks through an affine warp without a filter.
#pragma once

#include <cstdint>
#include <limits>

#include "base/image.h"

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

// Nearest warps that move whole rows or columns: copies, without a look at single pixels.

/// Row `out_y` of `out`: pixel x is pixel x + shift of row `in_y`; `fill` where there is none.
void copy_shifted_row(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y,
                      int64_t shift, const uint8_t (&fill)[3]);

/// Whether every column of the result is a column of the source, moved up or down.
bool moves_columns(const FixedMatrix& matrix);

/// Requires moves_columns(matrix); may write up to kRowSlack bytes past the end of rows.
void copy_shifted_columns(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                          const uint8_t (&fill)[3]);

}  // namespace penstock
