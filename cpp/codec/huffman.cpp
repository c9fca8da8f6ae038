#include "codec/huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock {
namespace {

constexpr int kIndexMask = (1 << kAcLookupBits) - 1;

// Entries are put together as words, whose low bytes are the first members.
static_assert(std::endian::native == std::endian::little);
constexpr uint64_t kBitsAndAdvance = 0xFFFF;
constexpr int kValueShift = 32;
constexpr uint64_t kFirstValue = uint64_t{0xFFFF} << kValueShift;

/// `bits` where the index does not hold all of them: it exceeds any sum that fits.
constexpr int kTooManyBits = 64;

/// The symbol that the bits of an index begin with, alone.
struct Spelled {
  AcEntry entry[1 << kAcLookupBits];   // bits is kTooManyBits if both_advance is kUnresolved
  SkipEntry skip[1 << kAcLookupBits];  // code and value, even if that goes on behind the index
  uint8_t code_bits[1 << kAcLookupBits];
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
  const auto length = static_cast<uint8_t>(code_bits);
  const auto bits = static_cast<uint8_t>(code_bits + value_bits);
  const auto advance = static_cast<uint8_t>(advance_of(symbol));
  std::fill_n(spelled.code_bits + index, 1 << free_bits, length);
  std::fill_n(spelled.skip + index, 1 << free_bits, SkipEntry{bits, advance});
  AcEntry* entry = spelled.entry + index;
  if (value_bits > free_bits) {
    const AcEntry unresolved{kTooManyBits, kUnresolved, length, 0, static_cast<int16_t>(symbol), 0};
    std::fill_n(entry, 1 << free_bits, unresolved);
    return;
  }
  const int repeats = 1 << (free_bits - value_bits);
  for (int value = 0; value < 1 << value_bits; ++value) {
    const auto signed_value =
        static_cast<int16_t>(value_bits == 0 ? 0 : value_of(value, value_bits));
    for (int i = 0; i < repeats; ++i) *entry++ = {bits, advance, bits, advance, signed_value, 0};
  }
}

void spell_nothing(Spelled& spelled, int index) {
  for (; index <= kIndexMask; ++index) {
    spelled.entry[index] = {kTooManyBits, kUnresolved, 0, 0, 0, 0};
    spelled.skip[index] = {0, kUnresolved};
    spelled.code_bits[index] = kTooManyBits;
  }
}

/// Adds the second coefficient. Without branches, for what follows is as random as the bits are.
AcEntry pair_up(const Spelled& spelled, int index) {
  const AcEntry& first = spelled.entry[index];
  const AcEntry& second = spelled.entry[index << (first.bits & 15) & kIndexMask];
  const int ended = first.both_advance & kEndOfBlock;
  const bool fits = first.bits + second.bits + ended <= kAcLookupBits;
  const uint64_t taken = std::bit_cast<uint64_t>(second) & -uint64_t{fits};
  return std::bit_cast<AcEntry>(std::bit_cast<uint64_t>(first) + (taken & kBitsAndAdvance) +
                                ((taken & kFirstValue) << 16));
}

/// Up to two pairs, or a pair and a coefficient whose value goes on behind the index.
SkipEntry skip_all(const Spelled& spelled, const AcEntry* pairs, int index) {
  const AcEntry& pair = pairs[index];
  if (pair.both_advance == kUnresolved) return spelled.skip[index];
  const int rest = index << pair.bits & kIndexMask;
  const int rest_bits = kAcLookupBits - pair.bits - (pair.both_advance & kEndOfBlock);
  const AcEntry& next = pairs[rest];
  const SkipEntry pair_of_next{next.bits, next.both_advance};
  const int pair_fits = next.bits <= rest_bits;
  const int one_fits = spelled.code_bits[rest] <= rest_bits;
  const int taken = (std::bit_cast<uint16_t>(pair_of_next) & -pair_fits) |
                    (std::bit_cast<uint16_t>(spelled.skip[rest]) & -(one_fits & ~pair_fits));
  const int sum = std::bit_cast<uint16_t>(SkipEntry{pair.bits, pair.both_advance}) + taken;
  return std::bit_cast<SkipEntry>(static_cast<uint16_t>(sum));
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
  for (int i = 0; i <= kIndexMask; ++i) table.entry[i] = pair_up(spelled, i);
  for (int i = 0; i <= kIndexMask; ++i) table.skip[i] = skip_all(spelled, table.entry, i);
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
