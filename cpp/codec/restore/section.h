// The bytes of a `restore` section: a flag byte, two sizes, and deflated literals and patches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

/// How a rebuilt file compares with the original.
enum class Likeness : uint8_t {
  bytes = 0,   // the very same file
  pixels = 1,  // another file with the same pixels
};

struct RestoreSection {
  Likeness likeness = Likeness::bytes;
  bool pad_with_ones = true;
  std::vector<uint8_t> literals;
  std::vector<uint8_t> patches;  // see patches.h
};

/// Literals and patches together. Real headers are a few kilobytes; videos behind the image, which
/// some phones write, a few megabytes.
inline constexpr uint64_t kMostSectionPayload = uint64_t{1} << 28;

/// Replaces `bytes` by the section. Requires at most kMostSectionPayload.
void write_section(std::vector<uint8_t>& bytes, const RestoreSection& section);

/// Returns nullptr, or what is wrong with the bytes.
const char* read_section(RestoreSection& section, std::span<const uint8_t> bytes);

// Numbers in as many bytes as they need, seven bits per byte, lowest first (LEB128).

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
