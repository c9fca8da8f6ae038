#include "codec/restore/huffman_codes.h"

#include <cstring>

namespace penstock {

void build_huffman_codes(HuffmanCodes& codes, const HuffmanSpec& spec) {
  std::memset(&codes, 0, sizeof codes);
  const uint8_t* symbol = spec.symbols;
  int code = 0;
  for (int length = 1; length <= 16; ++length, code *= 2) {
    for (int i = 0; i < spec.counts[length]; ++i, ++symbol) {
      codes.of[*symbol] = {static_cast<uint16_t>(code++), static_cast<uint16_t>(length)};
    }
  }
}

}  // namespace penstock
