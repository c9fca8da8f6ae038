// Blocks with all their coefficients at once.
#pragma once

#include <bit>

#include "codec/restore/coefficient_code.h"
#include "codec/zigzag.h"

namespace penstock {

class SequentialCoder {
 public:
  /// The codes of the scan's components.
  HuffmanCodes dc[3];
  HuffmanCodes ac[3];

  void begin_segment() { prediction_[0] = prediction_[1] = prediction_[2] = 0; }
  void end_segment(EntropyWriter&) {}
  const char* problem() const { return symbols_.problem(); }

  void encode(EntropyWriter& writer, int part, const int16_t* block, uint64_t mask) {
    symbols_.put_difference(writer, dc[part], block[0] - prediction_[part]);
    prediction_[part] = block[0];
    writer = encode_ac(writer, ac[part], block, mask & ~uint64_t{1});
  }

 private:
  /// On its own, and with a writer by value, so that all of the loop's variables fit in registers.
  [[gnu::noinline]] EntropyWriter encode_ac(EntropyWriter writer, const HuffmanCodes& codes,
                                            const int16_t* block, uint64_t left) {
    int last = 0;
    for (; left != 0; left &= left - 1) {
      const int position = std::countr_zero(left);
      int run = position - last - 1;
      last = position;
      for (; run > 15; run -= 16) symbols_.put(writer, codes, kZeroRunSymbol);
      symbols_.put_coefficient(writer, codes, run, block[kNaturalOrder[position]]);
    }
    if (last != 63) symbols_.put(writer, codes, kEndOfBlockSymbol);
    return writer;
  }

  SymbolWriter symbols_;
  int prediction_[3] = {};
};

}  // namespace penstock
