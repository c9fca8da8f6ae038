// The inverse DCT of blocks that come as their few non-zero coefficients, in zigzag order.
#pragma once

#include "codec/reconstruct.h"

namespace penstock {

/// The first three arrays are indexed by block.
struct SparseBlocks {
  const int16_t* dc;      // first coefficient
  const uint64_t* mask;   // bit i: zigzag position i is not zero; bit 0 is not set
  const uint16_t* first;  // of a block's values
  const int8_t* values;   // in zigzag order, or their low bytes; 64 more than there are may be read
  const int8_t* high;     // bytes of the values, or nullptr if all of them fit a byte
};

/// Transforms the kBlockGroup blocks from `first` on, with the same samples as IdctRow would give.
/// `plane`, `quant` and `centred` are as there.
PENSTOCK_VARIANTS(void sparse_idct(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks,
                                   int first, const uint16_t* quant, bool centred))

using SparseIdct = decltype(&scalar::sparse_idct);

}  // namespace penstock
