// A JPEG's Huffman codes, for writing.
#pragma once

#include <cstdint>

#include "codec/jpeg_header.h"

namespace penstock {

struct HuffmanCode {
  uint16_t code;
  uint16_t bits;  // 0: the symbol has none
};

struct HuffmanCodes {
  HuffmanCode of[256];  // each symbol
};

/// Requires a spec that is_usable().
void build_huffman_codes(HuffmanCodes& codes, const HuffmanSpec& spec);

}  // namespace penstock
