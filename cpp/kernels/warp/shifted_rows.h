// Nearest warps whose rows come from one row of the source each, pixel after pixel.
#pragma once

#include "base/image.h"

namespace penstock {

/// Row `out_y` of `out`: pixel x is pixel x + shift of row `in_y`; `fill` where there is none.
void copy_shifted_row(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y,
                      int64_t shift, const uint8_t (&fill)[3]);

}  // namespace penstock
