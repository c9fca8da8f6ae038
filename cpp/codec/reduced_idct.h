// Inverse DCTs that turn a block of 8x8 coefficients into fewer samples: those of an image of that
// much lower resolution. Frequencies that such an image cannot hold are left out.
#pragma once

#include "codec/reconstruct.h"

namespace penstock {

/// The transform to height x width samples a block, for `IdctRow`'s arguments: it writes `height`
/// rows of round_up(blocks, kBlockGroup) * width bytes.
///
/// - Sides are 8, 4, 2 or 1, and equal unless one is twice the other.
/// - Any coefficients and quantisers are fine: products wrap around to 16 bits, and all variants
///   give the same samples. Valid ones are within one level of the real transform.
/// - To a single sample, only the first coefficient of each block may be set.
IdctRow idct_row_to(int height, int width);

// Four blocks fill AVX2's registers; wider ones would need longer rows.
PENSTOCK_NARROW_VARIANTS(void idct_row_4x4(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients,
                                           int blocks, const uint16_t* quant, bool centred))
PENSTOCK_NARROW_VARIANTS(void idct_row_2x2(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients,
                                           int blocks, const uint16_t* quant, bool centred))
void idct_row_1x1(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                  const uint16_t* quant, bool centred);

}  // namespace penstock
