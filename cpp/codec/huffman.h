// Look-up tables that decode a JPEG's Huffman codes, one or two coefficients a look-up.
#pragma once

#include <cstdint>

#include "codec/jpeg_header.h"

namespace penstock {

inline constexpr int kAcLookupBits = 10;
inline constexpr int kDcLookupBits = 9;
inline constexpr int kMaxCodeBits = 16;

/// Added to a position in the block by a code that ends it. No run reaches that far.
inline constexpr int kEndOfBlock = 128;

/// Codes too long for a look-up, by comparing with the largest code of each length.
struct LongCodes {
  int32_t limit[kMaxCodeBits + 1];  // first code beyond those of this length, left-justified
  int32_t symbol_offset[kMaxCodeBits + 1];
  uint8_t symbols[256];
};

/// What the next kAcLookupBits bits mean: a coefficient and, if its bits are among them as well,
/// the one after it. Positions count in zigzag order. Always inlined, as in bit_reader.h.
struct AcEntry {
  uint64_t packed;

  /// Codes and values of both. The low six bits, so that a shift by the whole word means this.
  [[gnu::always_inline]] int bits() const { return packed & 63; }
  [[gnu::always_inline]] bool is_long() const { return (packed >> 6 & 1) != 0; }
  [[gnu::always_inline]] int first_advance() const { return packed >> 8 & 255; }
  [[gnu::always_inline]] int both_advance() const { return packed >> 16 & 255; }
  [[gnu::always_inline]] int first_code_bits() const { return packed >> 24 & 15; }
  [[gnu::always_inline]] int first_value_bits() const { return packed >> 28 & 15; }
  [[gnu::always_inline]] int16_t second_value() const { return static_cast<int16_t>(packed >> 32); }
};

struct AcTable {
  AcEntry entry[1 << kAcLookupBits];
  LongCodes long_codes;
};

/// code_bits == 0: a code longer than kDcLookupBits, or none at all.
struct DcEntry {
  uint8_t code_bits;
  uint8_t value_bits;
};

struct DcTable {
  DcEntry entry[1 << kDcLookupBits];
  LongCodes long_codes;
};

/// Both require a spec that is_usable().
void build_ac_table(AcTable& table, const HuffmanSpec& spec);
void build_dc_table(DcTable& table, const HuffmanSpec& spec);

/// The tables of one image, kept for the next one in case it uses the same codes.
class HuffmanTables {
 public:
  /// Builds the tables that the header's components use. Requires Route::baseline.
  void prepare(const JpegHeader& header);

  const DcTable& dc(int table) const { return dc_[table]; }
  const AcTable& ac(int table) const { return ac_[table]; }

 private:
  HuffmanSpec dc_spec_[4];
  HuffmanSpec ac_spec_[4];
  DcTable dc_[4];
  AcTable ac_[4];
};

}  // namespace penstock
