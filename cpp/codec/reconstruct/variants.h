// The implementations behind reconstruction(). The scalar ones are the oracle of all others.
//
// Files compiled for an instruction set keep their functions internal and use no inline function
// or template that another file may also emit: the linker could pick their copy for an older CPU.
#pragma once

#include "codec/reconstruct.h"

namespace penstock {

/// One block; its coefficients are left alone. The SIMD variants hand over what overflows.
void idct_block_scalar(uint8_t* plane, ptrdiff_t stride, const int16_t* block,
                       const uint16_t* quant, bool centred);

void idct_row_scalar(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                     const uint16_t* quant, bool centred);
void idct_row_avx2(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                   const uint16_t* quant, bool centred);
void idct_row_avx512(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                     const uint16_t* quant, bool centred);

void rgb_row_scalar(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
                    const SamplePlane (&chroma)[2], int y, int left, int right,
                    const UpsampleRow& scratch);
void rgb_row_avx2(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
                  const SamplePlane (&chroma)[2], int y, int left, int right,
                  const UpsampleRow& scratch);
void rgb_row_avx512(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
                    const SamplePlane (&chroma)[2], int y, int left, int right,
                    const UpsampleRow& scratch);

}  // namespace penstock
