#include "codec/restore/section.h"

#include <algorithm>

#include "codec/restore/deflate.h"

namespace penstock {
namespace {

enum Flag : uint8_t { kOnlyPixels = 1, kPaddedWithZeros = 2, kAllFlags = 3 };

}  // namespace

void write_section(std::vector<uint8_t>& bytes, const RestoreSection& section) {
  uint8_t flags = 0;
  if (section.likeness == Likeness::pixels) flags |= kOnlyPixels;
  if (!section.pad_with_ones) flags |= kPaddedWithZeros;
  bytes.assign({flags});
  append_variable_length(bytes, section.literals.size());
  append_variable_length(bytes, section.patches.size());
  std::vector<uint8_t> payload = section.literals;
  payload.insert(payload.end(), section.patches.begin(), section.patches.end());
  append_deflated(bytes, payload);
}

const char* read_section(RestoreSection& section, std::span<const uint8_t> bytes) {
  if (bytes.empty()) return "empty restore section";
  const uint8_t flags = bytes[0];
  if ((flags & ~kAllFlags) != 0) return "unknown flags in the restore section";
  section.likeness = flags & kOnlyPixels ? Likeness::pixels : Likeness::bytes;
  section.pad_with_ones = (flags & kPaddedWithZeros) == 0;

  size_t at = 1;
  uint64_t literals = 0;
  uint64_t patches = 0;
  if (!take_variable_length(literals, bytes, at) || !take_variable_length(patches, bytes, at))
    return "restore section cut short";
  // Checked before memory is asked for; each size alone, so that the sum cannot overflow.
  const uint64_t most = std::min(kMostSectionPayload, most_inflated_bytes(bytes.size() - at));
  if (literals > most || patches > most || literals + patches > most)
    return "impossible sizes in the restore section";
  section.literals.resize(literals + patches);
  if (!inflate_exactly(section.literals, bytes.subspan(at))) return "damaged restore section";
  section.patches.assign(section.literals.begin() + literals, section.literals.end());
  section.literals.resize(literals);
  return nullptr;
}

}  // namespace penstock
