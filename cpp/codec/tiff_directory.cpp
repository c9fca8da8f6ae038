#include "codec/tiff_directory.h"

#include <cstddef>
#include <cstring>

namespace penstock {
namespace {

constexpr size_t kEntryBytes = 12;

}  // namespace

TiffDirectory::TiffDirectory(std::span<const uint8_t> bytes) : bytes_(bytes) {
  if (bytes.size() < 8) return;
  if (std::memcmp(bytes.data(), "MM\0*", 4) == 0)
    big_endian_ = true;
  else if (std::memcmp(bytes.data(), "II*\0", 4) != 0)
    return;
  const size_t directory = *read_u32(4);
  const auto entries = read_u16(directory);
  if (!entries) return;
  entries_ = *entries;
  entries_offset_ = directory + 2;
  valid_ = entries_offset_ + entries_ * kEntryBytes <= bytes.size();
}

std::optional<uint16_t> TiffDirectory::read_u16(size_t offset) const {
  if (offset > bytes_.size() || bytes_.size() - offset < 2) return std::nullopt;
  const uint8_t* p = bytes_.data() + offset;
  return static_cast<uint16_t>(big_endian_ ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

std::optional<uint32_t> TiffDirectory::read_u32(size_t offset) const {
  const auto first = read_u16(offset);
  const auto second = read_u16(offset + 2);
  if (!first || !second) return std::nullopt;
  return big_endian_ ? uint32_t{*first} << 16 | *second : uint32_t{*second} << 16 | *first;
}

std::optional<TiffEntry> TiffDirectory::find(uint16_t tag) const {
  if (!valid_) return std::nullopt;
  for (int i = entries_ - 1; i >= 0; --i) {
    const size_t at = entries_offset_ + i * kEntryBytes;
    if (*read_u16(at) != tag) continue;
    TiffEntry entry;
    entry.type = *read_u16(at + 2);
    entry.count = *read_u32(at + 4);
    const bool is_inline = (entry.type == kShort && entry.count <= 2) ||
                           (entry.type == kLong && entry.count <= 1) ||
                           (entry.type != kShort && entry.type != kLong &&
                            entry.type != kRational && entry.count <= 4);
    entry.value_offset = is_inline ? static_cast<uint32_t>(at + 8) : *read_u32(at + 8);
    return entry;
  }
  return std::nullopt;
}

}  // namespace penstock
