// The loops of progressive_scans.h. AVX2 machines count and find bits in one instruction each.
#include <algorithm>
#include <bit>

#include "codec/progressive_scans.h"
#include "codec/read_symbols.h"
#include "codec/zigzag.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kValueBits = 15;    // of a coefficient, without its sign
constexpr int kCertainBits = 56;  // that a reader has after it was refilled

/// The word may hold bytes from behind the end, but a later check counts the bits.
PENSTOCK_INLINE bool is_beyond(const BitReader& reader, const EntropyCursor& cursor) {
  return reader.next > cursor.end + sizeof reader.word;
}

PENSTOCK_INLINE bool end_run(EntropyCursor& cursor, const BitReader& reader) {
  cursor.reader = reader;
  return reader.position(cursor.end) <= 0;
}

/// The next symbol, or kNoSymbol. At least 40 bits are left in the reader.
PENSTOCK_INLINE int next_symbol(BitReader& reader, const SymbolTable& table) {
  reader.refill();
  const SymbolTable::Entry entry = table.entry[reader.peek(kAcLookupBits)];
  if (entry.bits == 0) [[unlikely]]
    return long_symbol(reader, table.long_codes);
  reader.consume(entry.bits);
  return entry.symbol;
}

/// How many blocks a symbol ends, this one included, that stands for a run of 2^size and more.
PENSTOCK_INLINE int read_eob_run(BitReader& reader, int size) {
  if (size == 0) return 1;
  const int run = (1 << size) + static_cast<int>(reader.peek(size));
  reader.consume(size);
  return run;
}

/// Bits for the zigzag positions first to last.
PENSTOCK_INLINE uint64_t positions_between(int first, int last) {
  return (~uint64_t{0} >> (63 - last)) & (~uint64_t{0} << first);
}

// ---- first coefficients
// ---------------------------------------------------------------------------

/// Calls `block(component number, row, column)` for the blocks of some units.
template <class Block>
PENSTOCK_INLINE bool for_blocks(const ProgressiveScan& scan, int64_t first_unit, int64_t units,
                                Block block) {
  int unit_row = static_cast<int>(first_unit / scan.units_across);
  int unit_column = static_cast<int>(first_unit % scan.units_across);
  for (int64_t unit = 0; unit < units; ++unit) {
    for (int c = 0; c < scan.components; ++c) {
      const ScanComponent& component = scan.component[c];
      for (int y = 0; y < component.vertical; ++y)
        for (int x = 0; x < component.horizontal; ++x)
          if (!block(c, unit_row * component.vertical + y, unit_column * component.horizontal + x))
            return false;
    }
    if (++unit_column == scan.units_across) {
      unit_column = 0;
      ++unit_row;
    }
  }
  return true;
}

bool dc_first(EntropyCursor& cursor, ProgressiveScan& scan, int64_t first_unit, int64_t units) {
  BitReader reader = cursor.reader;
  const bool good = for_blocks(scan, first_unit, units, [&](int c, int row, int column) {
    const ScanComponent& component = scan.component[c];
    int& prediction = cursor.dc[c];
    if (!read_difference(reader, *component.dc, prediction)) return false;
    const int limit = component.dc_limit >> scan.low;
    if (prediction < -limit || prediction > limit || is_beyond(reader, cursor)) return false;
    if (int16_t* const values = component.blocks->at(row, column))
      values[0] = static_cast<int16_t>(prediction * (1 << scan.low));
    return true;
  });
  return good && end_run(cursor, reader);
}

bool dc_refine(EntropyCursor& cursor, ProgressiveScan& scan, int64_t first_unit, int64_t units) {
  BitReader reader = cursor.reader;
  const bool good = for_blocks(scan, first_unit, units, [&](int c, int row, int column) {
    reader.refill();
    const auto bit = static_cast<int>(reader.peek(1));
    reader.consume(1);
    if (is_beyond(reader, cursor)) return false;
    if (int16_t* const values = scan.component[c].blocks->at(row, column))
      values[0] = static_cast<int16_t>(values[0] | bit << scan.low);
    return true;
  });
  return good && end_run(cursor, reader);
}

// ---- the other coefficients, of one component
// -----------------------------------------------------

/// The first bits of a block's coefficients; false if they lead outside of the block.
PENSTOCK_INLINE bool first_bits(BitReader& reader, ProgressiveScan& scan, uint64_t& nonzero,
                                int16_t* values) {
  const int most_bits = kValueBits - scan.low;
  uint64_t found = 0;
  for (int position = scan.first; position <= scan.last; ++position) {
    const int symbol = next_symbol(reader, *scan.ac);
    if (symbol == kNoSymbol) return false;
    const int run = symbol >> 4;
    const int value_bits = symbol & 15;
    if (value_bits == 0) {
      if (run != 15) {
        scan.eob_run = read_eob_run(reader, run) - 1;
        break;
      }
      position += 15;
      continue;
    }
    position += run;
    if (position > scan.last || value_bits > most_bits) return false;
    if (values != nullptr) {
      const int value = signed_value(reader.word, value_bits);
      values[kNaturalOrder[position]] = static_cast<int16_t>(value * (1 << scan.low));
    }
    reader.consume(value_bits);
    found |= uint64_t{1} << position;
  }
  nonzero |= found;
  return true;
}

/// A place among the blocks of a component.
struct BlockPlace {
  int row;
  int column;

  BlockPlace(int64_t unit, int across)
      : row(static_cast<int>(unit / across)), column(static_cast<int>(unit % across)) {}

  PENSTOCK_INLINE void advance(int64_t blocks, int across) {
    if (blocks < across - column) [[likely]] {
      column += static_cast<int>(blocks);
      return;
    }
    blocks += column;
    row += static_cast<int>(blocks / across);
    column = static_cast<int>(blocks % across);
  }
};

bool ac_first(EntropyCursor& cursor, ProgressiveScan& scan, int64_t first_unit, int64_t units) {
  BitReader reader = cursor.reader;
  const ProgressiveBlocks blocks = *scan.component[0].blocks;
  BlockPlace place(first_unit, blocks.across);
  for (int64_t unit = first_unit, end = first_unit + units; unit < end;) {
    int64_t passed = 1;
    if (scan.eob_run > 0) {
      passed = std::min<int64_t>(scan.eob_run, end - unit);
      scan.eob_run -= static_cast<int>(passed);
    } else if (!first_bits(reader, scan, blocks.nonzero[unit],
                           blocks.at(place.row, place.column)) ||
               is_beyond(reader, cursor)) {
      return false;
    }
    unit += passed;
    place.advance(passed, blocks.across);
  }
  return end_run(cursor, reader);
}

/// One bit more of the coefficients at `positions`, which are not zero.
PENSTOCK_INLINE void refine(BitReader& reader, uint64_t positions, int16_t* values, int low) {
  reader.refill();
  int count = std::popcount(positions);
  if (values == nullptr) {
    for (; count > kCertainBits; count -= kCertainBits) {
      reader.consume(kCertainBits);
      reader.refill();
    }
    reader.consume(count);
    return;
  }
  for (int taken = 0; positions != 0; positions &= positions - 1) {
    if (taken++ == kCertainBits) reader.refill();
    int16_t& value = values[kNaturalOrder[std::countr_zero(positions)]];
    const int bit = static_cast<int>(reader.peek(1)) << low;
    value = static_cast<int16_t>(value < 0 ? value - bit : value + bit);
    reader.consume(1);
  }
}

/// The next bit of a block's coefficients, and coefficients that are new.
PENSTOCK_INLINE bool refine_block(BitReader& reader, ProgressiveScan& scan, uint64_t& nonzero,
                                  int16_t* values) {
  uint64_t ahead = positions_between(scan.first, scan.last);  // positions not passed yet
  uint64_t found = 0;
  while (scan.eob_run == 0 && ahead != 0) {
    const int symbol = next_symbol(reader, *scan.ac);
    if (symbol == kNoSymbol) return false;
    const int run = symbol >> 4;
    const int value_bits = symbol & 15;
    int value = 0;
    if (value_bits == 0) {
      if (run != 15) {
        scan.eob_run = read_eob_run(reader, run);
        break;
      }
    } else {
      if (value_bits != 1) return false;
      value = (static_cast<int>(reader.peek(1)) * 2 - 1) * (1 << scan.low);
      reader.consume(1);
    }
    // The place behind `run` zeros; what lies before it and is not zero gets a bit.
    uint64_t zeros = ahead & ~nonzero;
    for (int i = 0; i < run; ++i) zeros &= zeros - 1;
    const uint64_t place = zeros & (~zeros + 1);  // 0 if there are not as many
    const uint64_t passed = place == 0 ? ahead : ahead & (place - 1);
    refine(reader, passed & nonzero, values, scan.low);
    ahead &= place == 0 ? 0 : ~(place | (place - 1));
    if (value == 0) continue;
    if (place == 0) return false;
    found |= place;
    if (values != nullptr)
      values[kNaturalOrder[std::countr_zero(place)]] = static_cast<int16_t>(value);
  }
  if (scan.eob_run > 0) {
    refine(reader, ahead & nonzero, values, scan.low);
    --scan.eob_run;
  }
  nonzero |= found;
  return true;
}

bool ac_refine(EntropyCursor& cursor, ProgressiveScan& scan, int64_t first_unit, int64_t units) {
  BitReader reader = cursor.reader;
  const ProgressiveBlocks blocks = *scan.component[0].blocks;
  const uint64_t wanted = positions_between(scan.first, scan.last);
  BlockPlace place(first_unit, blocks.across);
  for (int64_t unit = first_unit, end = first_unit + units; unit < end; ++unit) {
    uint64_t& nonzero = blocks.nonzero[unit];
    if (scan.eob_run > 0 && (nonzero & wanted) == 0)
      --scan.eob_run;
    else if (!refine_block(reader, scan, nonzero, blocks.at(place.row, place.column)) ||
             is_beyond(reader, cursor))
      return false;
    place.advance(1, blocks.across);
  }
  return end_run(cursor, reader);
}

}  // namespace

const ScanLoops scan_loops = {dc_first, dc_refine, ac_first, ac_refine};

}  // namespace penstock::PENSTOCK_ISA
