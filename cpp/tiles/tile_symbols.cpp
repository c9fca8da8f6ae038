#include "tiles/tile_symbols.h"

#include "base/cpu.h"
#include "codec/zigzag.h"

namespace penstock {

UnpackTile unpack_tile() {
#if defined(__x86_64__)
  switch (active_isa()) {
    case Isa::avx512:
      return unpack_tile_avx512;
    case Isa::avx2:
      return unpack_tile_avx2;
    case Isa::scalar:
      break;
  }
#endif
  return unpack_tile_scalar;
}

void expand_block(int16_t* block, const TileSymbols& symbols, int number, int last_wanted) {
  block[0] = symbols.dc[number];
  const int8_t* value = symbols.values + symbols.first[number];
  const uint64_t wanted = symbols.mask[number] & (~uint64_t{0} >> (63 - last_wanted));
  for (uint64_t mask = wanted; mask != 0; mask &= mask - 1)
    block[kNaturalOrder[__builtin_ctzll(mask)]] = *value++;
  if (!symbols.has_wide(number, number + 1)) return;
  for (int i = symbols.first_wide[number]; i < symbols.first_wide[number + 1]; ++i) {
    const WideValue& wide = symbols.wide[i];
    if (wide.position <= last_wanted) block[kNaturalOrder[wide.position]] = wide.value;
  }
}

}  // namespace penstock
