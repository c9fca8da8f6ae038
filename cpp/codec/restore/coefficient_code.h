// What the coders of all kinds of scans have in common: symbols and the bits that follow them.
#pragma once

#include <bit>
#include <cstdint>

#include "codec/restore/bit_writer.h"
#include "codec/restore/huffman_codes.h"

namespace penstock {

/// A value as a JPEG spells it: how many bits, and which.
struct SpelledValue {
  int bits;
  uint32_t value;
};

inline SpelledValue spell(int value) {
  const int sign = value >> 31;
  const int bits = std::bit_width(static_cast<unsigned>((value ^ sign) - sign));
  return {bits, static_cast<uint32_t>(value + sign) & ((1u << bits) - 1)};
}

/// Writes symbols, and remembers if one had no code.
class SymbolWriter {
 public:
  static constexpr int kMostValueBits = 15;

  void put(BitWriter& writer, const HuffmanCodes& codes, int symbol) {
    put(writer, codes, symbol, {0, 0});
  }

  /// `symbol` is the one that stands for a value of so many bits.
  void put(BitWriter& writer, const HuffmanCodes& codes, int symbol, SpelledValue spelled) {
    if (spelled.bits > kMostValueBits || codes.bits[symbol] == 0) [[unlikely]] {
      failed_ = true;
      return;
    }
    writer.put(uint32_t{codes.code[symbol]} << spelled.bits | spelled.value,
               codes.bits[symbol] + spelled.bits);
  }

  const char* problem() const {
    return failed_ ? "coefficients that the Huffman codes cannot write" : nullptr;
  }

 private:
  bool failed_ = false;
};

inline constexpr int kZeroRunSymbol = 0xF0;  // sixteen zeros
inline constexpr int kEndOfBlockSymbol = 0x00;

}  // namespace penstock
