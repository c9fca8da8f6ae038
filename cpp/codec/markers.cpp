#include "codec/markers.h"

namespace penstock {

const char* next_marker(uint8_t& marker, std::span<const uint8_t> bytes, size_t& at) {
  if (at >= bytes.size() || bytes[at] != 0xFF) return "bytes between segments";
  while (at < bytes.size() && bytes[at] == 0xFF) ++at;
  if (at == bytes.size()) return "ends in its header";
  marker = bytes[at++];
  return nullptr;
}

const char* next_body(std::span<const uint8_t>& body, std::span<const uint8_t> bytes, size_t& at) {
  if (bytes.size() - at < 2) return "ends in its header";
  const size_t length = bytes[at] << 8 | bytes[at + 1];
  if (length < 2) return "segment without length";
  if (bytes.size() - at < length) return "ends in its header";
  body = bytes.subspan(at + 2, length - 2);
  at += length;
  return nullptr;
}

}  // namespace penstock
