// Sampling at displaced places in plain C++: for images of any size, and what vectors must agree
// with.
#pragma once

#include "kernels/warp/elastic.h"

namespace penstock {

void warp_displaced_scalar(const PlanarTarget& out, const PlanarView& in, const float* dx,
                           const float* dy, Filter filter, const uint8_t (&fill)[3]);

}  // namespace penstock
