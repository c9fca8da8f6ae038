#include "codec/restore/put_ac_one_by_one.h"

namespace penstock::PENSTOCK_ISA {

bool put_ac(EntropyWriter& writer, const AcCodes& codes, const int16_t* block) {
  uint64_t mask;
  PENSTOCK_ISA::zigzag_masks(&mask, block, 1);
  bool all_have_codes;
  writer = put_one_by_one(writer, all_have_codes, codes.codes, block, mask & ~uint64_t{1});
  return all_have_codes;
}

}  // namespace penstock::PENSTOCK_ISA
