#include "codec/jpeg_tables.h"

#include <algorithm>

#include "codec/zigzag.h"

namespace penstock {

bool read_quant_tables(JpegHeader& header, std::span<const uint8_t> body) {
  while (!body.empty()) {
    const int element_bytes = 1 + (body[0] >> 4);
    const int table = body[0] & 15;
    const size_t table_bytes = 1 + 64 * element_bytes;
    if (element_bytes > 2 || table > 3 || body.size() < table_bytes) return false;
    const uint8_t* element = body.data() + 1;
    for (const uint8_t natural : kNaturalOrder) {
      header.quant[table][natural] =
          static_cast<uint16_t>(element_bytes == 1 ? element[0] : element[0] << 8 | element[1]);
      element += element_bytes;
    }
    header.quant_present[table] = true;
    body = body.subspan(table_bytes);
  }
  return true;
}

bool read_huffman_tables(JpegHeader& header, std::span<const uint8_t> body) {
  constexpr size_t kFixedBytes = 1 + 16;
  while (!body.empty()) {
    if (body.size() < kFixedBytes) return false;
    const int table_class = body[0] >> 4;
    const int table = body[0] & 15;
    if (table_class > 1 || table > 3) return false;
    HuffmanSpec spec;
    spec.present = true;
    size_t symbols = 0;
    for (int length = 1; length <= 16; ++length) {
      spec.counts[length] = body[length];
      symbols += body[length];
    }
    if (symbols > sizeof spec.symbols || body.size() - kFixedBytes < symbols) return false;
    std::copy_n(body.data() + kFixedBytes, symbols, spec.symbols);
    (table_class == 0 ? header.dc : header.ac)[table] = spec;
    body = body.subspan(kFixedBytes + symbols);
  }
  return true;
}

bool read_restart_interval(JpegHeader& header, std::span<const uint8_t> body) {
  if (body.size() != 2) return false;
  header.restart_interval = body[0] << 8 | body[1];
  return true;
}

bool is_valid_conditioning(std::span<const uint8_t> body) {
  constexpr int kTables = 16;
  if (body.size() % 2 != 0) return false;
  for (size_t i = 0; i < body.size(); i += 2) {
    const int table = body[i];
    const int lower = body[i + 1] & 15;
    const int upper = body[i + 1] >> 4;
    if (table >= 2 * kTables || (table < kTables && lower > upper)) return false;
  }
  return true;
}

bool is_usable(const HuffmanSpec& spec, bool dc) {
  int code = 0;
  int symbols = 0;
  for (int length = 1; length <= 16; ++length, code *= 2) {
    code += spec.counts[length];
    symbols += spec.counts[length];
    if (spec.counts[length] != 0 && code >= 1 << length) return false;
  }
  const auto* end = spec.symbols + symbols;
  return !dc || std::all_of(spec.symbols, end, [](uint8_t symbol) { return symbol <= 15; });
}

}  // namespace penstock
