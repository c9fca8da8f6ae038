// Look-up tables that decode a JPEG's Huffman codes, several coefficients a look-up.
#pragma once

#include <cstdint>

#include "codec/jpeg_header.h"

namespace penstock {

inline constexpr int kAcLookupBits = 10;
inline constexpr int kDcLookupBits = 9;
inline constexpr int kMaxCodeBits = 16;

/// Added to a position in the block by a code that ends it. No run reaches that far.
inline constexpr int kEndOfBlock = 128;

/// Added where the look-up's bits do not tell. No end of block reaches that far.
inline constexpr int kUnresolved = 255;

/// Any code, by comparing with the largest code of each length.
struct LongCodes {
  int32_t limit[kMaxCodeBits + 1];  // first code beyond those of this length, left-justified
  int32_t symbol_offset[kMaxCodeBits + 1];
  uint8_t symbols[256];
};

/// What the next kAcLookupBits bits mean: a coefficient or two. The value of the last one may go on
/// behind those bits, for it is taken from the reader. Positions count in zigzag order.
///
/// With one coefficient it is the first and the last: both advances are equal. If the first code is
/// too long, or none, last_advance is kUnresolved.
struct AcEntry {
  uint8_t bits;  // of codes and values together
  uint8_t last_advance;
  uint8_t first_bits;  // as if the first one was alone
  uint8_t first_advance;
  int16_t first_value;  // if it is not the last
  uint16_t last_mask;   // of the last one's bits, which come last
};

/// The same for those who only want to get past a block: as many coefficients as possible.
struct SkipEntry {
  uint8_t bits;
  uint8_t advance;
};

struct AcTable {
  AcEntry entry[1 << kAcLookupBits];
  SkipEntry skip[1 << kAcLookupBits];
  LongCodes long_codes;
};

/// code_bits == 0: a code longer than kDcLookupBits, or none at all.
struct DcEntry {
  uint8_t bits;  // of code and value together
  uint8_t code_bits;
  uint8_t value_bits;
};

struct DcTable {
  DcEntry entry[1 << kDcLookupBits];
  LongCodes long_codes;
};

/// What the next bits mean where a code is followed by something else than in a sequential file.
struct SymbolTable {
  struct Entry {
    uint8_t bits;  // of the code; 0: a longer one, or none
    uint8_t symbol;
  };
  Entry entry[1 << kAcLookupBits];
  LongCodes long_codes;
};

/// All require a spec that is_usable().
void build_ac_table(AcTable& table, const HuffmanSpec& spec);
void build_dc_table(DcTable& table, const HuffmanSpec& spec);
void build_symbol_table(SymbolTable& table, const HuffmanSpec& spec);

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
