// Symbols of Huffman codes and the values behind them, for the decoders' inner loops.
//
// Everything here is inlined into a namespace of the instruction set that includes it.
#pragma once

#include <cstdint>

#include "codec/decode_mcus.h"
#include "codec/huffman.h"

#define PENSTOCK_INLINE inline __attribute__((always_inline))

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kNoSymbol = -1;

/// The next symbol, found without a look-up, or kNoSymbol. Requires 16 bits in the reader.
PENSTOCK_INLINE int long_symbol(BitReader& reader, const LongCodes& codes) {
  const int front = static_cast<int>(reader.peek(kMaxCodeBits));
  for (int length = 1; length <= kMaxCodeBits; ++length) {
    if (front >= codes.limit[length]) continue;
    const int code = front >> (kMaxCodeBits - length);
    reader.consume(length);
    return codes.symbols[code + codes.symbol_offset[length]];
  }
  return kNoSymbol;
}

/// The signed value that the first `count` (0 to 15) bits of `word` stand for.
PENSTOCK_INLINE int signed_value(uint64_t word, int count) {
  const int magnitude = static_cast<int>((word >> 1) >> (63 - count));
  const int negative = static_cast<int>(static_cast<int64_t>(~word) >> 63);  // leading zero bit
  return magnitude + (((-1 << count) + 1) & negative);
}

/// Adds a first coefficient's difference to its prediction; false if there is no such code.
/// Leaves at least 32 bits in the reader.
PENSTOCK_INLINE bool read_difference(BitReader& reader, const DcTable& table, int& prediction) {
  reader.refill();
  const DcEntry& entry = table.entry[reader.peek(kDcLookupBits)];
  if (entry.code_bits != 0) [[likely]] {
    prediction += signed_value(reader.word << entry.code_bits, entry.value_bits);
    reader.consume(entry.bits);
    return true;
  }
  const int value_bits = long_symbol(reader, table.long_codes);
  if (value_bits == kNoSymbol) return false;
  prediction += signed_value(reader.word, value_bits);
  reader.consume(value_bits);
  reader.refill();
  return true;
}

}  // namespace
}  // namespace penstock::PENSTOCK_ISA
