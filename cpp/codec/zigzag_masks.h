// Which coefficients of a block are not zero.
#pragma once

#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// Bit k of masks[i] says that block i has a coefficient other than zero at zigzag position k.
/// `blocks` are `count` blocks of 64 coefficients in natural order.
PENSTOCK_VARIANTS(void zigzag_masks(uint64_t* masks, const int16_t* blocks, int count))

}  // namespace penstock
