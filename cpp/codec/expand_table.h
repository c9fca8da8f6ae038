// The shuffles by which AVX2 does what AVX-512 has an instruction for: expanding by a mask.
#pragma once

#include <cstdint>

namespace penstock {

inline constexpr uint8_t kNoByte = 0x80;  // gives zero in a byte shuffle

/// For each byte of a mask: which of the next bytes goes where, or none.
struct ExpandTable {
  uint8_t at[256][8];
};

constexpr ExpandTable make_expand_table() {
  ExpandTable table{};
  for (int mask = 0; mask < 256; ++mask) {
    uint8_t next = 0;
    for (int bit = 0; bit < 8; ++bit) table.at[mask][bit] = mask >> bit & 1 ? next++ : kNoByte;
  }
  return table;
}

alignas(64) inline constexpr ExpandTable kExpand = make_expand_table();

}  // namespace penstock
