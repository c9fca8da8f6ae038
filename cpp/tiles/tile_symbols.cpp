#include "tiles/tile_symbols.h"

#include "codec/zigzag.h"

namespace penstock {

void scalar::expand_block(int16_t* block, const TileSymbols& symbols, int number, int last_wanted) {
  block[0] = symbols.dc[number];
  const bool is_wide = symbols.has_wide(number, number + 1);
  const uint64_t wanted = symbols.mask[number] & (~uint64_t{0} >> (63 - last_wanted));
  int next = symbols.first[number];
  for (uint64_t mask = wanted; mask != 0; mask &= mask - 1, ++next) {
    const int value = symbols.values[next];
    block[kNaturalOrder[__builtin_ctzll(mask)]] =
        static_cast<int16_t>(is_wide ? symbols.high[next] * 256 + (value & 0xFF) : value);
  }
}

}  // namespace penstock
