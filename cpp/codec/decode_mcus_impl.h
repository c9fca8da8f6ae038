// The loops of decode_mcus.h, compiled once for each instruction set. Everything has internal
// linkage, so that no variant's code can end up in another one.
#pragma once

#include "codec/decode_mcus.h"

namespace penstock {
namespace {

#define PENSTOCK_INLINE inline __attribute__((always_inline))

/// Natural order of the zigzag positions.
constexpr uint8_t kNatural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

constexpr int kNoSymbol = -1;

/// The symbol of a code that no look-up knows, or kNoSymbol. Requires 16 bits in the reader.
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

PENSTOCK_INLINE bool decode_dc(BitReader& reader, const McuBlock& block, int& prediction) {
  const DcEntry entry = block.dc->entry[reader.peek(kDcLookupBits)];
  int value_bits = entry.value_bits;
  if (entry.code_bits != 0) [[likely]] {
    reader.consume(entry.code_bits);
  } else {
    value_bits = long_symbol(reader, block.dc->long_codes);
    if (value_bits == kNoSymbol) return false;
  }
  prediction += signed_value(reader.word, value_bits);
  reader.consume(value_bits);
  return static_cast<unsigned>(prediction + block.dc_limit) <=
         2 * static_cast<unsigned>(block.dc_limit);
}

/// A code beyond the look-up's reach. `position` becomes kEndOfBlock or more if it ends the block.
template <bool kStore>
bool decode_long_ac(BitReader& reader, const LongCodes& codes, int16_t* coefficients,
                    int& position) {
  reader.refill();
  const int symbol = long_symbol(reader, codes);
  if (symbol == kNoSymbol) return false;
  const int run = symbol >> 4;
  const int value_bits = symbol & 15;
  if (value_bits == 0) {
    position += run == 15 ? 16 : kEndOfBlock;
    return position <= 63 || position >= kEndOfBlock;
  }
  position += run + 1;
  if (position > 63) return false;
  if (kStore) {
    const int value = signed_value(reader.word, value_bits);
    coefficients[kNatural[position]] = static_cast<int16_t>(value);
  }
  reader.consume(value_bits);
  return true;
}

template <bool kStore>
PENSTOCK_INLINE bool decode_ac(BitReader& reader, const AcTable& table, int16_t* coefficients) {
  int position = 0;  // of the last coefficient known
  for (;;) {
    reader.refill();
    // Two look-ups take at most 2 * (10 + 15) of the 56 bits.
    for (int lookup = 0; lookup < 2; ++lookup) {
      const AcEntry entry = table.entry[reader.peek(kAcLookupBits)];
      if (entry.is_long()) [[unlikely]] {
        if (!decode_long_ac<kStore>(reader, table.long_codes, coefficients, position)) return false;
        if (position >= 63) return true;
        break;
      }
      const int first = position + entry.first_advance();
      const int both = position + entry.both_advance();
      const int value =
          kStore ? signed_value(reader.word << entry.first_code_bits(), entry.first_value_bits())
                 : 0;
      if (both < 63) [[likely]] {
        if (kStore) {
          // Without a second coefficient both positions are equal and the first one's value stays.
          coefficients[kNatural[both]] = entry.second_value();
          coefficients[kNatural[first]] = static_cast<int16_t>(value);
        }
        reader.consume(entry.bits());
        position = both;
        continue;
      }
      if (first == 63) {  // the block is full: what follows belongs to the next one
        if (kStore) coefficients[63] = static_cast<int16_t>(value);
        reader.consume(entry.first_code_bits() + entry.first_value_bits());
        return true;
      }
      reader.consume(entry.bits());
      if (first >= kEndOfBlock) return true;
      if (first > 63) return false;
      if (both == 63) {
        if (kStore) coefficients[63] = entry.second_value();
      } else if (both < kEndOfBlock) {
        return false;
      }
      if (kStore) coefficients[kNatural[first]] = static_cast<int16_t>(value);
      return true;
    }
  }
}

template <bool kStore>
bool decode_mcus(EntropyCursor& cursor, const Mcu& mcu, int units) {
  BitReader reader = cursor.reader;
  for (int unit = 0; unit < units; ++unit) {
    for (int b = 0; b < mcu.blocks; ++b) {
      const McuBlock& block = mcu.block[b];
      int16_t* coefficients =
          kStore ? block.coefficients + static_cast<ptrdiff_t>(unit) * block.unit_step : nullptr;
      reader.refill();
      int& prediction = cursor.dc[block.component];
      if (!decode_dc(reader, block, prediction)) return false;
      if (kStore) coefficients[0] = static_cast<int16_t>(prediction);
      if (!decode_ac<kStore>(reader, *block.ac, coefficients)) return false;
      // The word may hold bytes from behind the end, but a later check counts the bits.
      if (reader.next > cursor.end + sizeof reader.word) return false;
    }
  }
  cursor.reader = reader;
  return reader.position(cursor.end) <= 0;
}

#undef PENSTOCK_INLINE

}  // namespace
}  // namespace penstock
