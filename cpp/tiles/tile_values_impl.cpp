// One value after the other: the oracle of the vector variant.
#include "codec/zigzag.h"
#include "tiles/layout.h"
#include "tiles/tile_values.h"

namespace penstock::PENSTOCK_ISA {
namespace {

int bits_of(unsigned magnitude) { return magnitude == 0 ? 0 : 32 - __builtin_clz(magnitude); }

}  // namespace

int list_values(int16_t* values, uint64_t* masks, const int16_t* blocks, int count) {
  PENSTOCK_ISA::zigzag_masks(masks, blocks, count);
  int16_t* next = values;
  for (int i = 0; i < count; ++i, blocks += 64)
    for (uint64_t left = masks[i] & ~uint64_t{1}; left != 0; left &= left - 1)
      *next++ = blocks[kNaturalOrder[__builtin_ctzll(left)]];
  return static_cast<int>(next - values);
}

int spell_values(uint8_t* lengths, uint16_t* bits, const int16_t* values, int count) {
  int magnitudes = 0;  // all of them: only the highest bit matters
  for (int i = 0; i < count; ++i) {
    const int value = values[i];
    const int sign = value >> 31;
    const int magnitude = (value ^ sign) - sign;
    const int length = bits_of(magnitude);
    magnitudes |= magnitude;
    lengths[i] = static_cast<uint8_t>(length);
    bits[i] = static_cast<uint16_t>((value + sign) & ((1 << length) - 1));
  }
  return bits_of(magnitudes);
}

int mark_longer(uint64_t* plane, uint8_t* longer, const uint8_t* lengths, int count, int level) {
  int found = 0;
  for (int first = 0; first < count; first += 64, ++plane) {
    uint64_t word = 0;
    for (int i = 0; i < 64 && first + i < count; ++i) {
      const uint8_t length = lengths[first + i];
      const bool is_longer = length > level;
      word |= uint64_t{is_longer} << i;
      longer[found] = length;  // never ahead of what is read
      found += is_longer;
    }
    *plane = word;
  }
  return found;
}

void join_values(uint32_t* joined, uint8_t* widths, const uint16_t* bits, const uint8_t* lengths,
                 int count) {
  for (int first = 0; first < count; first += kJoinedValues) {
    uint32_t word = 0;
    int width = 0;
    for (int i = first; i < first + kJoinedValues; ++i) {
      const int extra =
          lengths[i] > tile_layout::kShortBits ? lengths[i] - tile_layout::kShortBits : 0;
      word |= static_cast<uint32_t>(bits[i] >> extra) << width;
      width += lengths[i] - extra;
    }
    *joined++ = word;
    *widths++ = static_cast<uint8_t>(width);
  }
}

}  // namespace penstock::PENSTOCK_ISA
