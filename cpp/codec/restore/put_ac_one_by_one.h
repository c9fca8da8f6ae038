// Codes one after the other: the oracle of the vector variant, and what it does with rare blocks.
// Included only by the put_ac_*.cpp files; everything is static, so that each keeps its own copy
// for its own instruction set.
#pragma once

#include "codec/restore/ac_codes.h"
#include "codec/zigzag.h"

namespace penstock {
namespace {

/// `left` has a bit for each zigzag position that is not zero, position 0 left out. The writer is
/// given by value so that all of the loop's variables fit in registers.
[[gnu::noinline]] EntropyWriter put_one_by_one(EntropyWriter writer, bool& all_have_codes,
                                               const HuffmanCodes& codes, const int16_t* block,
                                               uint64_t left) {
  constexpr int kLastPosition = 63;
  constexpr int kMostBits = 15;  // of a value
  int last = 0;
  bool failed = false;
  const auto put = [&](int symbol, uint32_t value, int bits) __attribute__((always_inline)) {
    const HuffmanCode code = codes.of[symbol];
    failed |= code.bits == 0;
    writer.put(uint32_t{code.code} << bits | value, code.bits + bits);
  };
  for (; left != 0; left &= left - 1) {
    const int position = __builtin_ctzll(left);
    int run = position - last - 1;
    last = position;
    for (; run > 15; run -= 16) put(kZeroRunSymbol, 0, 0);
    const int value = block[kNaturalOrder[position]];
    const int sign = value >> 31;
    const int bits = 32 - __builtin_clz(static_cast<unsigned>((value ^ sign) - sign));
    failed |= bits > kMostBits;
    put(run << 4 | (bits & 15), static_cast<uint32_t>(value + sign) & ((1u << bits) - 1), bits);
  }
  if (last != kLastPosition) put(kEndOfBlockSymbol, 0, 0);
  all_have_codes = !failed;
  return writer;
}

}  // namespace
}  // namespace penstock
