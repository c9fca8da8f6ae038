// What the coders of all kinds of scans have in common: symbols and the bits that follow them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "codec/jpeg_header.h"
#include "codec/restore/entropy_writer.h"

namespace penstock {

// A JPEG's Huffman codes, for writing.

struct HuffmanCode {
  uint16_t code;
  uint16_t bits;  // 0: the symbol has none
};

struct HuffmanCodes {
  HuffmanCode of[256];  // each symbol
};

/// Requires a spec that is_usable().
inline void build_huffman_codes(HuffmanCodes& codes, const HuffmanSpec& spec) {
  std::memset(&codes, 0, sizeof codes);
  const uint8_t* symbol = spec.symbols;
  int code = 0;
  for (int length = 1; length <= 16; ++length, code *= 2) {
    for (int i = 0; i < spec.counts[length]; ++i, ++symbol) {
      codes.of[*symbol] = {static_cast<uint16_t>(code++), static_cast<uint16_t>(length)};
    }
  }
}

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

inline constexpr char kNoCode[] = "coefficients that the Huffman codes cannot write";

/// Writes symbols, and remembers if one had no code.
class SymbolWriter {
 public:
  void put(EntropyWriter& writer, const HuffmanCodes& codes, int symbol) {
    put(writer, codes, symbol, {0, 0});
  }

  /// `symbol` is one that a value of spelled.bits (at most 16) bits follows.
  [[gnu::always_inline]] void put(EntropyWriter& writer, const HuffmanCodes& codes, int symbol,
                                  SpelledValue spelled) {
    const HuffmanCode code = codes.of[symbol];
    if (code.bits == 0) [[unlikely]]
      failed_ = true;
    writer.put(uint32_t{code.code} << spelled.bits | spelled.value, code.bits + spelled.bits);
  }

  /// The same for the difference of two DC coefficients.
  void put_difference(EntropyWriter& writer, const HuffmanCodes& codes, int difference) {
    const SpelledValue spelled = spell(difference);
    if (spelled.bits > kMostBits) [[unlikely]] {
      failed_ = true;
      return;
    }
    put(writer, codes, spelled.bits, spelled);
  }

  /// The same for an AC coefficient after `run` (at most 15) zeros.
  [[gnu::always_inline]] void put_coefficient(EntropyWriter& writer, const HuffmanCodes& codes,
                                              int run, int coefficient) {
    const SpelledValue spelled = spell(coefficient);
    if (spelled.bits > kMostBits) [[unlikely]]
      failed_ = true;
    put(writer, codes, run << 4 | (spelled.bits & 15), spelled);
  }

  const char* problem() const { return failed_ ? kNoCode : nullptr; }

 private:
  static constexpr int kMostBits = 15;  // of a value

  bool failed_ = false;
};

inline constexpr int kZeroRunSymbol = 0xF0;  // sixteen zeros
inline constexpr int kEndOfBlockSymbol = 0x00;

}  // namespace penstock
