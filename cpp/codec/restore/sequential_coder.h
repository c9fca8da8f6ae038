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
  void end_segment(BitWriter&) {}
  const char* problem() const { return symbols_.problem(); }

  void encode(BitWriter& writer, int part, const int16_t* block, uint64_t mask) {
    const SpelledValue difference = spell(block[0] - prediction_[part]);
    prediction_[part] = block[0];
    symbols_.put(writer, dc[part], difference.bits & 15, difference);

    const HuffmanCodes& codes = ac[part];
    int last = 0;
    for (uint64_t left = mask & ~uint64_t{1}; left != 0; left &= left - 1) {
      const int position = std::countr_zero(left);
      int run = position - last - 1;
      last = position;
      for (; run > 15; run -= 16) symbols_.put(writer, codes, kZeroRunSymbol);
      const SpelledValue spelled = spell(block[kNaturalOrder[position]]);
      symbols_.put(writer, codes, run << 4 | (spelled.bits & 15), spelled);
    }
    if (last != 63) symbols_.put(writer, codes, kEndOfBlockSymbol);
  }

 private:
  SymbolWriter symbols_;
  int prediction_[3] = {};
};

}  // namespace penstock
