#include "codec/huffman.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

/// One symbol as the bits at the front of a look-up index spell it.
struct Symbol {
  uint8_t code_bits = 0;  // 0: none
  uint8_t value_bits = 0;
  uint8_t advance = 0;
  bool complete = false;  // the value's bits are part of the index
  int16_t value = 0;
};

int value_of(int bits, int count) {
  return bits < 1 << (count - 1) ? bits - (1 << count) + 1 : bits;
}

int advance_of(int symbol) {
  const int run = symbol >> 4;
  if ((symbol & 15) != 0) return run + 1;
  return run == 15 ? 16
                   : kEndOfBlock;  // like libjpeg, any other run without a value ends the block
}

void build_long_codes(LongCodes& codes, const HuffmanSpec& spec) {
  int code = 0;
  int symbols = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length, code *= 2) {
    codes.symbol_offset[length] = symbols - code;
    code += spec.counts[length];
    symbols += spec.counts[length];
    codes.limit[length] = code << (kMaxCodeBits - length);
  }
  std::memcpy(codes.symbols, spec.symbols, sizeof codes.symbols);
}

void spell_symbol(Symbol* target, int symbol, int code_bits) {
  const int value_bits = symbol & 15;
  const int free_bits = kAcLookupBits - code_bits;
  Symbol spelled;
  spelled.code_bits = static_cast<uint8_t>(code_bits);
  spelled.value_bits = static_cast<uint8_t>(value_bits);
  spelled.advance = static_cast<uint8_t>(advance_of(symbol));
  spelled.complete = value_bits <= free_bits;
  if (!spelled.complete || value_bits == 0) {
    std::fill_n(target, 1 << free_bits, spelled);
    return;
  }
  const int repeats = 1 << (free_bits - value_bits);
  for (int bits = 0; bits < 1 << value_bits; ++bits, target += repeats) {
    spelled.value = static_cast<int16_t>(value_of(bits, value_bits));
    std::fill_n(target, repeats, spelled);
  }
}

AcEntry combine(const Symbol& first, const Symbol* spelled, int index) {
  if (first.code_bits == 0) return {uint64_t{1} << 6};
  int bits = first.code_bits + first.value_bits;
  int advance = first.advance;
  int value = 0;
  if (first.complete && first.advance < kEndOfBlock && bits < kAcLookupBits) {
    const Symbol& second = spelled[index << bits & ((1 << kAcLookupBits) - 1)];
    const int second_bits = second.code_bits + second.value_bits;
    if (second.complete && bits + second_bits <= kAcLookupBits) {
      bits += second_bits;
      advance += second.advance;
      value = second.value;
    }
  }
  return {static_cast<uint64_t>(bits) | uint64_t{first.advance} << 8 |
          static_cast<uint64_t>(advance) << 16 | uint64_t{first.code_bits} << 24 |
          uint64_t{first.value_bits} << 28 | uint64_t{static_cast<uint16_t>(value)} << 32};
}

bool same_code(const HuffmanSpec& a, const HuffmanSpec& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

void build_ac_table(AcTable& table, const HuffmanSpec& spec) {
  build_long_codes(table.long_codes, spec);
  Symbol spelled[1 << kAcLookupBits];
  Symbol* next = spelled;
  const uint8_t* symbol = spec.symbols;
  for (int length = 1; length <= kAcLookupBits; ++length) {
    for (int i = 0; i < spec.counts[length]; ++i) {
      spell_symbol(next, *symbol++, length);
      next += 1 << (kAcLookupBits - length);
    }
  }
  for (int index = 0; index < 1 << kAcLookupBits; ++index)
    table.entry[index] = combine(spelled[index], spelled, index);
}

void build_dc_table(DcTable& table, const HuffmanSpec& spec) {
  build_long_codes(table.long_codes, spec);
  DcEntry* next = table.entry;
  const uint8_t* symbol = spec.symbols;
  for (int length = 1; length <= kDcLookupBits; ++length) {
    for (int i = 0; i < spec.counts[length]; ++i) {
      const int entries = 1 << (kDcLookupBits - length);
      std::fill_n(next, entries, DcEntry{static_cast<uint8_t>(length), *symbol++});
      next += entries;
    }
  }
  std::fill(next, std::end(table.entry), DcEntry{0, 0});
}

void HuffmanTables::prepare(const JpegHeader& header) {
  for (int c = 0; c < header.components; ++c) {
    const int dc = header.component[c].dc_table;
    const int ac = header.component[c].ac_table;
    if (!same_code(dc_spec_[dc], header.dc[dc])) {
      dc_spec_[dc] = header.dc[dc];
      build_dc_table(dc_[dc], header.dc[dc]);
    }
    if (!same_code(ac_spec_[ac], header.ac[ac])) {
      ac_spec_[ac] = header.ac[ac];
      build_ac_table(ac_[ac], header.ac[ac]);
    }
  }
}

}  // namespace penstock
