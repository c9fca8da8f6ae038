#include "codec/huffman.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

constexpr int kIndexMask = (1 << kAcLookupBits) - 1;

/// Exceeds any number of bits that an index has.
constexpr int kTooManyBits = 64;

/// What an index begins with. First one coefficient, then as many as `pair_up` finds.
struct Spelled {
  AcEntry entry[1 << kAcLookupBits];
  uint8_t code_end[1 << kAcLookupBits];  // bits up to the end of the last code
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

/// Writes the entries of all indices that begin with a code, which are `index` and those after it.
void spell_symbol(Spelled& spelled, int index, int symbol, int code_bits) {
  const int value_bits = symbol & 15;
  const int free_bits = kAcLookupBits - code_bits;
  const auto bits = static_cast<uint8_t>(code_bits + value_bits);
  const auto advance = static_cast<uint8_t>(advance_of(symbol));
  const auto mask = static_cast<uint16_t>((1 << value_bits) - 1);
  std::fill_n(spelled.code_end + index, 1 << free_bits, static_cast<uint8_t>(code_bits));
  AcEntry* entry = spelled.entry + index;
  if (value_bits > free_bits || value_bits == 0) {
    std::fill_n(entry, 1 << free_bits, AcEntry{bits, advance, bits, advance, 0, mask});
    return;
  }
  const int repeats = 1 << (free_bits - value_bits);
  for (int value = 0; value < 1 << value_bits; ++value) {
    const auto signed_value = static_cast<int16_t>(value_of(value, value_bits));
    for (int i = 0; i < repeats; ++i) *entry++ = {bits, advance, bits, advance, signed_value, mask};
  }
}

void spell_nothing(Spelled& spelled, int index) {
  for (; index <= kIndexMask; ++index) {
    spelled.entry[index] = {0, kUnresolved, 0, kUnresolved, 0, 0};
    spelled.code_end[index] = kTooManyBits;
  }
}

/// Whether something else of `code_end` bits may follow what an index begins with.
bool goes_on(const AcEntry& entry, int code_end) {
  return entry.last_advance < kEndOfBlock && entry.bits + code_end <= kAcLookupBits;
}

void pair_up(AcEntry* pairs, uint8_t* code_end, const Spelled& spelled) {
  for (int index = 0; index <= kIndexMask; ++index) {
    AcEntry pair = spelled.entry[index];
    code_end[index] = spelled.code_end[index];
    const int rest = index << (pair.bits & 31) & kIndexMask;
    const AcEntry& second = spelled.entry[rest];
    if (goes_on(pair, spelled.code_end[rest])) {
      code_end[index] = static_cast<uint8_t>(pair.bits + spelled.code_end[rest]);
      pair.bits = static_cast<uint8_t>(pair.bits + second.bits);
      pair.last_advance = static_cast<uint8_t>(pair.last_advance + second.last_advance);
      pair.last_mask = second.last_mask;
    }
    pairs[index] = pair;
  }
}

/// Two pairs, or a pair and one more.
void pair_up_pairs(SkipEntry* skip, const AcEntry* pairs, const uint8_t* code_end,
                   const Spelled& spelled) {
  for (int index = 0; index <= kIndexMask; ++index) {
    const AcEntry& pair = pairs[index];
    SkipEntry sum{pair.bits, pair.last_advance};
    const int rest = index << (pair.bits & 31) & kIndexMask;
    const bool pair_follows = goes_on(pair, code_end[rest]);
    const AcEntry& next = pair_follows ? pairs[rest] : spelled.entry[rest];
    if (pair_follows || goes_on(pair, spelled.code_end[rest])) {
      sum.bits = static_cast<uint8_t>(sum.bits + next.bits);
      sum.advance = static_cast<uint8_t>(sum.advance + next.last_advance);
    }
    skip[index] = sum;
  }
}

bool same_code(const HuffmanSpec& a, const HuffmanSpec& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

void build_ac_table(AcTable& table, const HuffmanSpec& spec) {
  build_long_codes(table.long_codes, spec);
  Spelled spelled;
  int index = 0;
  const uint8_t* symbol = spec.symbols;
  for (int length = 1; length <= kAcLookupBits; ++length) {
    for (int i = 0; i < spec.counts[length]; ++i) {
      spell_symbol(spelled, index, *symbol++, length);
      index += 1 << (kAcLookupBits - length);
    }
  }
  spell_nothing(spelled, index);
  uint8_t code_end[1 << kAcLookupBits];
  pair_up(table.entry, code_end, spelled);
  pair_up_pairs(table.skip, table.entry, code_end, spelled);
}

void build_dc_table(DcTable& table, const HuffmanSpec& spec) {
  build_long_codes(table.long_codes, spec);
  DcEntry* next = table.entry;
  const uint8_t* symbol = spec.symbols;
  for (int length = 1; length <= kDcLookupBits; ++length) {
    for (int i = 0; i < spec.counts[length]; ++i) {
      const int entries = 1 << (kDcLookupBits - length);
      const int value_bits = *symbol++;
      std::fill_n(next, entries,
                  DcEntry{static_cast<uint8_t>(length + value_bits), static_cast<uint8_t>(length),
                          static_cast<uint8_t>(value_bits)});
      next += entries;
    }
  }
  std::fill(next, std::end(table.entry), DcEntry{});
}

void build_symbol_table(SymbolTable& table, const HuffmanSpec& spec) {
  build_long_codes(table.long_codes, spec);
  SymbolTable::Entry* next = table.entry;
  const uint8_t* symbol = spec.symbols;
  for (int length = 1; length <= kAcLookupBits; ++length) {
    for (int i = 0; i < spec.counts[length]; ++i) {
      const int entries = 1 << (kAcLookupBits - length);
      std::fill_n(next, entries, SymbolTable::Entry{static_cast<uint8_t>(length), *symbol++});
      next += entries;
    }
  }
  std::fill(next, std::end(table.entry), SymbolTable::Entry{});
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
