// The loops of decode_mcus.h. AVX2 machines have shifts that leave the flags alone; wider vectors
// add nothing here.
#include "codec/decode_mcus.h"
#include "codec/read_symbols.h"
#include "codec/zigzag.h"

namespace penstock::PENSTOCK_ISA {
namespace {

/// Leaves at least 32 bits in the reader.
PENSTOCK_INLINE bool decode_dc(BitReader& reader, const McuBlock& block, int& prediction) {
  if (!read_difference(reader, *block.dc, prediction)) return false;
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
    coefficients[kNaturalOrder[position]] = static_cast<int16_t>(value);
  }
  reader.consume(value_bits);
  return true;
}

/// The value of an entry's last coefficient, before the entry is consumed.
PENSTOCK_INLINE int16_t last_value(const BitReader& reader, const AcEntry& entry) {
  const int mask = entry.last_mask;
  const int magnitude = static_cast<int>(reader.peek(entry.bits)) & mask;
  return static_cast<int16_t>(2 * magnitude > mask ? magnitude : magnitude - mask);
}

/// An entry that reaches position 63 or beyond.
PENSTOCK_INLINE bool store_end(BitReader& reader, const AcEntry& entry, int16_t* coefficients,
                               int position) {
  const int first = position + entry.first_advance;
  const int last = position + entry.last_advance;
  if (first == 63 && last > 63) {  // the block is full: what follows belongs to the next one
    coefficients[63] = entry.first_value;
    reader.consume(entry.first_bits);
    return true;
  }
  // An end alone has no value: zero, in the last place. Nobody could foretell a branch here.
  coefficients[kNaturalOrder[first < 63 ? first : 63]] = entry.first_value;
  if (last == 63) coefficients[63] = last_value(reader, entry);
  reader.consume(entry.bits);
  return last == 63 || (last >= kEndOfBlock && (first < 63 || first >= kEndOfBlock));
}

enum class Step { more, full, bad };

/// One symbol by itself: it is a long one, or some of the look-up's belong to the next block.
template <bool kStore>
PENSTOCK_INLINE Step take_symbol(BitReader& reader, const AcTable& table, int16_t* coefficients,
                                 int& position) {
  reader.refill();
  const int symbol = long_symbol(reader, table.long_codes);
  if (symbol == kNoSymbol || !place_symbol<kStore>(reader, symbol, coefficients, position))
    return Step::bad;
  reader.refill();
  return position < 63 ? Step::more : Step::full;
}

PENSTOCK_INLINE Step store_step(BitReader& reader, const AcTable& table, int16_t* coefficients,
                                int& position) {
  const AcEntry& entry = table.entry[reader.peek(kAcLookupBits)];
  const int first = position + entry.first_advance;
  const int last = position + entry.last_advance;
  if (last < 63) [[likely]] {
    coefficients[kNaturalOrder[first]] = entry.first_value;
    coefficients[kNaturalOrder[last]] = last_value(reader, entry);
    reader.consume(entry.bits);
    position = last;
    return Step::more;
  }
  if (last < kUnresolved)
    return store_end(reader, entry, coefficients, position) ? Step::full : Step::bad;
  return take_symbol<true>(reader, table, coefficients, position);
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
  return take_symbol<false>(reader, table, nullptr, position);
}

/// Which coefficients are stored; low: at least those up to the last one wanted.
enum class Keep { none, low, all };

template <Keep kKeep>
PENSTOCK_INLINE bool decode_ac(BitReader& reader, const AcTable& table, int16_t* coefficients,
                               int last_wanted) {
  if constexpr (kKeep == Keep::low) {
    if (last_wanted == 0) return decode_ac<Keep::none>(reader, table, coefficients, 0);
    if (last_wanted == 63) return decode_ac<Keep::all>(reader, table, coefficients, 63);
  }
  int position = 0;  // of the last coefficient known
  const auto take = [&]() __attribute__((always_inline)) {
    const bool stores = kKeep == Keep::low ? position < last_wanted : kKeep == Keep::all;
    return stores ? store_step(reader, table, coefficients, position)
                  : skip_step(reader, table, position);
  };
  constexpr int kMostBits = kAcLookupBits + 15;
  static_assert(kMostBits <= 32 && 2 * kMostBits <= 56);
  Step step = take();
  while (step == Step::more) {
    reader.refill();
    step = take();
    if (step != Step::more) break;
    step = take();
  }
  return step == Step::full;
}

template <Keep kKeep>
bool decode_mcus(EntropyCursor& cursor, const Mcu& mcu, int64_t first_unit, int64_t units) {
  BitReader reader = cursor.reader;
  for (int64_t unit = first_unit; unit < first_unit + units; ++unit) {
    for (int b = 0; b < mcu.blocks; ++b) {
      const McuBlock& block = mcu.block[b];
      int16_t* coefficients =
          kKeep != Keep::none ? block.coefficients + unit * block.unit_step : nullptr;
      int& prediction = cursor.dc[block.component];
      if (!decode_dc(reader, block, prediction)) return false;
      if (kKeep != Keep::none) coefficients[0] = static_cast<int16_t>(prediction);
      if (!decode_ac<kKeep>(reader, *block.ac, coefficients, block.last_wanted)) return false;
      // The word may hold bytes from behind the end, but a later check counts the bits.
      if (reader.next > cursor.end + sizeof reader.word) return false;
    }
  }
  cursor.reader = reader;
  return reader.position(cursor.end) <= 0;
}

#undef PENSTOCK_INLINE

}  // namespace

const McuDecoder mcu_decoder = {decode_mcus<Keep::all>, decode_mcus<Keep::low>,
                                decode_mcus<Keep::none>};

}  // namespace penstock::PENSTOCK_ISA
