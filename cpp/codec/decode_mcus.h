// The inner loop of our JPEG decoder: Huffman codes to coefficients, some units (MCUs) at a time.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "codec/bit_reader.h"
#include "codec/huffman.h"

namespace penstock {

/// One of the blocks that make up a unit.
struct McuBlock {
  const DcTable* dc = nullptr;
  const AcTable* ac = nullptr;
  int component = 0;
  int dc_limit = 0;                 // largest |DC| that the inverse DCT can take
  int16_t* coefficients = nullptr;  // of unit 0, zeroed, natural order
  int unit_step = 0;                // elements from one unit's block to the next one's
  int last_wanted = 63;             // zigzag position of the last coefficient that is needed
};

struct Mcu {
  static constexpr int kMaxBlocks = 10;
  McuBlock block[kMaxBlocks];
  int blocks = 0;
};

/// Where the decoder stands in a segment of entropy data.
struct EntropyCursor {
  BitReader reader;
  const uint8_t* end = nullptr;  // of the segment; kBitReaderSlack more bytes are readable
  int dc[3] = {};                // predictions
};

/// Decodes `units` units, the first of which is number `first_unit` as the blocks count them;
/// false if the data is not what a correct encoder writes.
using DecodeMcus = bool (*)(EntropyCursor& cursor, const Mcu& mcu, int64_t first_unit,
                            int64_t units);

struct McuDecoder {
  DecodeMcus store;      // coefficients are written to the blocks
  DecodeMcus store_low;  // at least those up to last_wanted are
  DecodeMcus skip;       // only the cursor moves
};

PENSTOCK_NARROW_VARIANTS(extern const McuDecoder mcu_decoder)

}  // namespace penstock
