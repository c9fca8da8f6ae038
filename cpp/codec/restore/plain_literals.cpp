#include <algorithm>

#include "codec/markers.h"
#include "codec/restore/literals.h"
#include "codec/restore/standard_tables.h"
#include "codec/zigzag.h"

namespace penstock {
namespace {

void append(std::vector<uint8_t>& bytes, std::span<const uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void append_segment(std::vector<uint8_t>& bytes, uint8_t marker, std::span<const uint8_t> body) {
  const size_t length = body.size() + 2;
  const uint8_t head[] = {0xFF, marker, static_cast<uint8_t>(length >> 8),
                          static_cast<uint8_t>(length)};
  append(bytes, head);
  append(bytes, body);
}

bool is_wide(const uint16_t (&quant)[64]) {
  return std::any_of(quant, quant + 64, [](int element) { return element > 255; });
}

/// A table for each component, with its number.
void append_quant(std::vector<uint8_t>& plain, const CoefficientImage& image) {
  for (int c = 0; c < image.components; ++c) {
    const auto& quant = image.component[c].quant;
    const bool wide = is_wide(quant);
    std::vector<uint8_t> body = {static_cast<uint8_t>(wide << 4 | c)};
    for (const uint8_t natural : kNaturalOrder) {
      if (wide) body.push_back(static_cast<uint8_t>(quant[natural] >> 8));
      body.push_back(static_cast<uint8_t>(quant[natural]));
    }
    append_segment(plain, kDqt, body);
  }
}

void append_frame(std::vector<uint8_t>& plain, const CoefficientImage& image,
                  const JpegHeader& header) {
  constexpr uint8_t kPrecision = 8;
  const auto high = [](int value) { return static_cast<uint8_t>(value >> 8); };
  const auto low = [](int value) { return static_cast<uint8_t>(value); };
  std::vector<uint8_t> body = {kPrecision,        high(image.height), low(image.height),
                               high(image.width), low(image.width),   low(image.components)};
  bool wide = false;
  for (int c = 0; c < image.components; ++c) {
    const CoefficientComponent& component = image.component[c];
    wide |= is_wide(component.quant);
    const int factors = component.horizontal << 4 | component.vertical;
    for (const uint8_t byte : {header.component[c].id, low(factors), low(c)}) body.push_back(byte);
  }
  append_segment(plain, wide ? kSof1 : kSof0, body);
}

void append_scan(std::vector<uint8_t>& plain, const JpegHeader& header) {
  std::vector<uint8_t> body = {static_cast<uint8_t>(header.components)};
  for (int c = 0; c < header.components; ++c) {
    constexpr uint8_t kLumaTables = 0x00;
    constexpr uint8_t kChromaTables = 0x11;
    body.push_back(header.component[c].id);
    body.push_back(c == 0 ? kLumaTables : kChromaTables);
  }
  for (const uint8_t whole_block : {0, 63, 0}) body.push_back(whole_block);
  append_segment(plain, kSos, body);
}

}  // namespace

const char* make_plain_literals(std::vector<uint8_t>& plain, std::span<const uint8_t> literals,
                                const CoefficientImage& image, const JpegHeader& header) {
  plain.assign({0xFF, kSoi});
  size_t at = plain.size();
  for (;;) {
    const size_t begin = at;
    uint8_t marker = 0;
    std::span<const uint8_t> body;
    if (const char* problem = next_marker(marker, literals, at)) return problem;
    if (marker == kEoi) {
      append_quant(plain, image);
      append_frame(plain, image, header);
      append(plain, standard_huffman_segments());
      append_scan(plain, header);
      append(plain, literals.subspan(begin));
      return nullptr;
    }
    if (const char* problem = next_body(body, literals, at)) return problem;
    if (marker == kCom || (marker >= kApp0 && marker <= kApp15))
      append(plain, literals.subspan(begin, at - begin));
  }
}

}  // namespace penstock
