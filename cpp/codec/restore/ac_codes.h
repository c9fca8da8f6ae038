// The AC coefficients of a block as Huffman codes.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "codec/restore/coefficient_code.h"

namespace penstock {

/// A table's codes, and once more as planes of bytes, in which vectors look up symbols.
struct AcCodes {
  HuffmanCodes codes;
  alignas(64) uint8_t low[256];   // bits 0 to 7 of a symbol's code
  alignas(64) uint8_t high[256];  // bits 8 to 15
  alignas(64) uint8_t bits[256];  // how many it has
};

/// Requires a spec that is_usable().
inline void build_ac_codes(AcCodes& codes, const HuffmanSpec& spec) {
  build_huffman_codes(codes.codes, spec);
  for (int symbol = 0; symbol < 256; ++symbol) {
    const HuffmanCode& code = codes.codes.of[symbol];
    codes.low[symbol] = static_cast<uint8_t>(code.code);
    codes.high[symbol] = static_cast<uint8_t>(code.code >> 8);
    codes.bits[symbol] = static_cast<uint8_t>(code.bits);
  }
}

/// Writes the 63 AC coefficients of `block`, which is in natural order. False if one of them has no
/// code; what was written then is of no use.
PENSTOCK_VARIANTS(bool put_ac(EntropyWriter& writer, const AcCodes& codes, const int16_t* block))

}  // namespace penstock
