// The bytes of a `restore` section: a flag byte, two sizes, and deflated literals and patches.
#pragma once

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

}  // namespace penstock
