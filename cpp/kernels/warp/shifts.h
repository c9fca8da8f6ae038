// Nearest warps that move whole rows or columns: copies, without a look at single pixels.
#pragma once

#include "base/image.h"
#include "kernels/warp/nearest_paths.h"

namespace penstock {

/// Row `out_y` of `out`: pixel x is pixel x + shift of row `in_y`; `fill` where there is none.
void copy_shifted_row(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y,
                      int64_t shift, const uint8_t (&fill)[3]);

/// Whether every column of the result is a column of the source, moved up or down.
bool moves_columns(const FixedMatrix& matrix);

/// Requires moves_columns(matrix); may write up to kRowSlack bytes past the end of rows.
void copy_shifted_columns(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                          const uint8_t (&fill)[3]);

}  // namespace penstock
