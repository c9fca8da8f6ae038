#include "codec/reconstruct.h"
#include "codec/zigzag.h"

namespace penstock::scalar {

void sparse_idct(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks, int first,
                 const SparseQuant& quant, bool centred) {
  for (int i = first; i < first + kBlockGroup; ++i, plane += 8) {
    int16_t block[64] = {blocks.dc[i]};
    int next = blocks.first[i];
    for (uint64_t mask = blocks.mask[i]; mask != 0; mask &= mask - 1, ++next) {
      const int value = blocks.values[next];
      block[kNaturalOrder[__builtin_ctzll(mask)]] = static_cast<int16_t>(
          blocks.high != nullptr ? blocks.high[next] * 256 + (value & 0xFF) : value);
    }
    idct_block(plane, stride, block, quant.natural, centred);
  }
}

}  // namespace penstock::scalar
