// Numbers in as many bytes as they need, seven bits a byte, lowest first (LEB128).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

inline void append_variable_length(std::vector<uint8_t>& bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<uint8_t>(number | 0x80));
  bytes.push_back(static_cast<uint8_t>(number));
}

/// Takes a number of at most 63 bits and moves `at` behind it; false if there is none.
inline bool take_variable_length(uint64_t& number, std::span<const uint8_t> bytes, size_t& at) {
  number = 0;
  for (int shift = 0; shift < 63 && at < bytes.size(); shift += 7) {
    const uint8_t byte = bytes[at++];
    number |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace penstock
