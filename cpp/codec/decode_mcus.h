// The inner loop of our JPEG decoder: Huffman codes to coefficients, some units (MCUs) at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/dispatch.h"
#include "codec/huffman.h"

namespace penstock {

// Bits of an unstuffed entropy segment, most significant first.

/// Readable bytes behind a segment: what the longest block can ask for beyond its end, and a word.
inline constexpr size_t kBitReaderSlack = 320;

/// The next bits, left-justified in a word. Reading past the end is no error here: whoever uses the
/// reader asks `position` (or compares `next`) after each block.
/// Always inlined: code compiled for one instruction set must not serve another.
struct BitReader {
  const uint8_t* next = nullptr;
  uint64_t word = 0;
  int count = 0;  // bits of `word` that have been counted off `next`

  explicit BitReader(const uint8_t* bytes) : next(bytes) {}
  BitReader() = default;

  /// At least 56 bits afterwards.
  [[gnu::always_inline]] void refill() {
    uint64_t bytes;
    std::memcpy(&bytes, next, sizeof bytes);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    word |= bytes >> count;
    next += (63 - count) >> 3;
    count |= 56;
  }

  /// Requires 1 <= bits <= 63.
  [[gnu::always_inline]] uint64_t peek(int bits) const { return word >> (64 - bits); }

  [[gnu::always_inline]] void consume(int bits) {
    word <<= bits;
    count -= bits;
  }

  [[gnu::always_inline]] int64_t position(const uint8_t* begin) const {
    return (next - begin) * 8 - count;
  }
};

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
