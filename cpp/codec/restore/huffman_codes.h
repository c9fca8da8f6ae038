// A JPEG's Huffman codes, for writing.
#pragma once

#include <cstdint>

#include "codec/jpeg_header.h"

namespace penstock {

struct HuffmanCodes {
  uint16_t code[256];
  uint8_t bits[256];  // 0: the symbol has no code
};

/// Requires a spec that is_usable().
void build_huffman_codes(HuffmanCodes& codes, const HuffmanSpec& spec);

}  // namespace penstock
