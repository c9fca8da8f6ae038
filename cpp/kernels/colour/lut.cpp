#include "kernels/colour/lut.h"

#include "kernels/colour/variants.h"

namespace penstock {

void compose(Lut& table, const Lut& next) {
  for (int c = 0; c < 3; ++c)
    for (uint8_t& level : table.value[c]) level = next.value[c][level];
}

bool is_bit_change(BitChange& change, const uint8_t* table) {
  change.flip = table[0];
  change.keep = table[255] ^ table[0];
  uint8_t differences = 0;
  for (int level = 0; level < 256; ++level)
    differences |= table[level] ^ static_cast<uint8_t>((level & change.keep) ^ change.flip);
  return differences == 0;
}

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  PENSTOCK_PICK(apply_lut)(out, in, table);
}

}  // namespace penstock
