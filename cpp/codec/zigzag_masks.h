// Which coefficients of a block are not zero.
#pragma once

#include <cstdint>

namespace penstock {

/// Bit k of masks[i] says that block i has a coefficient other than zero at zigzag position k.
/// `blocks` are `count` blocks of 64 coefficients in natural order.
using ZigzagMasks = void (*)(uint64_t* masks, const int16_t* blocks, int count);

/// The variant in use; see base/cpu.h.
ZigzagMasks zigzag_masks();

void zigzag_masks_scalar(uint64_t* masks, const int16_t* blocks, int count);
void zigzag_masks_avx2(uint64_t* masks, const int16_t* blocks, int count);
void zigzag_masks_avx512(uint64_t* masks, const int16_t* blocks, int count);

}  // namespace penstock
