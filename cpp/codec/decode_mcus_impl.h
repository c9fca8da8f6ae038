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

/// Leaves at least 32 bits in the reader.
PENSTOCK_INLINE bool decode_dc(BitReader& reader, const McuBlock& block, int& prediction) {
  reader.refill();
  const DcEntry& entry = block.dc->entry[reader.peek(kDcLookupBits)];
  if (entry.code_bits != 0) [[likely]] {
    prediction += signed_value(reader.word << entry.code_bits, entry.value_bits);
    reader.consume(entry.bits);
  } else {
    const int value_bits = long_symbol(reader, block.dc->long_codes);
    if (value_bits == kNoSymbol) return false;
    prediction += signed_value(reader.word, value_bits);
    reader.consume(value_bits);
    reader.refill();
  }
  return static_cast<unsigned>(prediction + block.dc_limit) <=
         2 * static_cast<unsigned>(block.dc_limit);
}

/// What a symbol whose code has been read does to the block; false if it leads outside.
/// `position` becomes kEndOfBlock or more if it ends the block.
template <bool kStore>
PENSTOCK_INLINE bool place_symbol(BitReader& reader, int symbol, int16_t* coefficients,
                                  int& position) {
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

/// A symbol that the look-up cannot resolve, after its entry.
PENSTOCK_INLINE bool store_unresolved(BitReader& reader, const AcTable& table, const AcEntry& entry,
                                      int16_t* coefficients, int& position) {
  reader.refill();
  int symbol = entry.first_value;
  if (entry.first_bits != 0) {
    reader.consume(entry.first_bits);
  } else {
    symbol = long_symbol(reader, table.long_codes);
    if (symbol == kNoSymbol) return false;
  }
  return place_symbol<true>(reader, symbol, coefficients, position);
}

/// The last look-up of a block, which reaches position 63 or beyond.
PENSTOCK_INLINE bool store_last(BitReader& reader, const AcEntry& entry, int16_t* coefficients,
                                int position) {
  const int first = position + entry.first_advance;
  const int both = position + entry.both_advance;
  if (first == 63) {  // the block is full: what follows belongs to the next one
    coefficients[63] = entry.first_value;
    reader.consume(entry.first_bits);
    return true;
  }
  reader.consume(entry.bits);
  if (first >= kEndOfBlock) return true;
  if (first > 63) return false;
  coefficients[kNatural[first]] = entry.first_value;
  if (both >= kEndOfBlock) return true;
  coefficients[63] = entry.second_value;
  return both == 63;
}

enum class Step { more, full, bad };

/// Stores what one look-up tells, unless it reaches the end of the block or tells nothing.
PENSTOCK_INLINE bool store_step(BitReader& reader, const AcTable& table, int16_t* coefficients,
                                int& position, const AcEntry*& entry) {
  entry = &table.entry[reader.peek(kAcLookupBits)];
  const int first = position + entry->first_advance;
  const int both = position + entry->both_advance;
  if (both >= 63) [[unlikely]]
    return false;
  // Without a second coefficient both positions are equal and the first one's value stays.
  coefficients[kNatural[both]] = entry->second_value;
  coefficients[kNatural[first]] = entry->first_value;
  reader.consume(entry->bits);
  position = both;
  return true;
}

PENSTOCK_INLINE bool store_ac(BitReader& reader, const AcTable& table, int16_t* coefficients) {
  int position = 0;  // of the last coefficient known
  const AcEntry* entry;
  static_assert(3 * kAcLookupBits <= 32 && 5 * kAcLookupBits <= 56);
  const auto step = [&]() __attribute__((always_inline)) {
    return store_step(reader, table, coefficients, position, entry);
  };
  bool more = step() && step() && step();
  for (;;) {
    while (more) {
      reader.refill();
      more = step() && step() && step() && step() && step();
    }
    if (entry->both_advance != kUnresolved)
      return store_last(reader, *entry, coefficients, position);
    if (!store_unresolved(reader, table, *entry, coefficients, position)) return false;
    if (position >= 63) return true;
    more = true;
  }
}

/// One symbol by itself: it is a long one, or some of the look-up's belong to the next block.
PENSTOCK_INLINE Step skip_symbol(BitReader& reader, const AcTable& table, int& position) {
  reader.refill();
  const int symbol = long_symbol(reader, table.long_codes);
  if (symbol == kNoSymbol || !place_symbol<false>(reader, symbol, nullptr, position))
    return Step::bad;
  reader.refill();
  return position < 63 ? Step::more : Step::full;
}

PENSTOCK_INLINE Step skip_step(BitReader& reader, const AcTable& table, int& position) {
  const SkipEntry& entry = table.skip[reader.peek(kAcLookupBits)];
  const int next = position + entry.advance;
  if (next < 63) [[likely]] {
    reader.consume(entry.bits);
    position = next;
    return Step::more;
  }
  const bool ends = entry.advance >= kEndOfBlock && next - kEndOfBlock < 63;
  if (ends || next == 63) {
    reader.consume(entry.bits);
    return Step::full;
  }
  return skip_symbol(reader, table, position);
}

PENSTOCK_INLINE bool skip_ac(BitReader& reader, const AcTable& table) {
  int position = 0;
  static_assert(kAcLookupBits + 15 <= 32 && 2 * (kAcLookupBits + 15) <= 56);
  Step step = skip_step(reader, table, position);
  while (step == Step::more) {
    reader.refill();
    step = skip_step(reader, table, position);
    if (step != Step::more) break;
    step = skip_step(reader, table, position);
  }
  return step == Step::full;
}

template <bool kStore>
bool decode_mcus(EntropyCursor& cursor, const Mcu& mcu, int units) {
  BitReader reader = cursor.reader;
  for (int unit = 0; unit < units; ++unit) {
    for (int b = 0; b < mcu.blocks; ++b) {
      const McuBlock& block = mcu.block[b];
      int16_t* coefficients =
          kStore ? block.coefficients + static_cast<ptrdiff_t>(unit) * block.unit_step : nullptr;
      int& prediction = cursor.dc[block.component];
      if (!decode_dc(reader, block, prediction)) return false;
      if (kStore) coefficients[0] = static_cast<int16_t>(prediction);
      if (!(kStore ? store_ac(reader, *block.ac, coefficients) : skip_ac(reader, *block.ac)))
        return false;
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
