// Blocks with all their coefficients at once.
#pragma once

#include "codec/restore/ac_codes.h"

namespace penstock {

class SequentialCoder {
 public:
  static constexpr bool kTakesMasks = false;

  /// The codes of the scan's components.
  HuffmanCodes dc[3];
  AcCodes ac[3];

  void begin_segment() { prediction_[0] = prediction_[1] = prediction_[2] = 0; }
  void end_segment(EntropyWriter&) {}
  const char* problem() const { return ac_failed_ ? kNoCode : symbols_.problem(); }

  void encode(EntropyWriter& writer, int part, const int16_t* block, uint64_t) {
    symbols_.put_difference(writer, dc[part], block[0] - prediction_[part]);
    prediction_[part] = block[0];
    if (!put_ac_(writer, ac[part], block)) ac_failed_ = true;
  }

 private:
  decltype(&scalar::put_ac) put_ac_ = PENSTOCK_PICK(put_ac);
  SymbolWriter symbols_;
  bool ac_failed_ = false;
  int prediction_[3] = {};
};

}  // namespace penstock
