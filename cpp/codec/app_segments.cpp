#include "codec/app_segments.h"

#include <cstddef>
#include <cstring>
#include <string_view>

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

namespace {

using Bytes = std::span<const uint8_t>;
using namespace std::string_view_literals;

bool starts_with(Bytes body, std::string_view prefix) {
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  return text.starts_with(prefix);
}

uint32_t read_be32(Bytes body, size_t at) {
  return uint32_t{body[at]} << 24 | body[at + 1] << 16 | body[at + 2] << 8 | body[at + 3];
}

const char* read_jfif(AppFacts& facts, Bytes body) {
  constexpr size_t kJfifBytes = 14;  // shorter ones are no JFIF to libjpeg, but they are to Pillow
  if (body.size() < kJfifBytes || body[4] != 0) return "odd JFIF segment";
  facts.jfif = true;
  return nullptr;
}

const char* read_adobe(AppFacts& facts, Bytes body) {
  constexpr size_t kAdobeBytes = 12;
  if (body.size() < kAdobeBytes) return "odd Adobe segment";
  facts.adobe = true;
  facts.adobe_transform = body[11];
  return nullptr;
}

const char* read_exif(AppFacts& facts, Bytes body) {
  constexpr uint16_t kXResolution = 0x011A;
  constexpr uint16_t kOrientation = 0x0112;
  if (facts.exif) return "more than one EXIF segment";
  facts.exif = true;
  const Bytes tiff = body.subspan(6);
  const TiffDirectory directory(tiff);
  if (!directory.valid()) {
    // Without a TIFF header Pillow ignores the segment; else it reads as far as it can.
    return starts_with(tiff, "II"sv) || starts_with(tiff, "MM"sv) ? "odd EXIF directory" : nullptr;
  }
  // Pillow computes a resolution from the entry, whatever its type, and not every type survives.
  if (const auto resolution = directory.find(kXResolution);
      resolution && (resolution->type != TiffDirectory::kRational || resolution->count != 1))
    return "odd EXIF resolution";
  if (const auto entry = directory.find(kOrientation);
      entry && entry->type == TiffDirectory::kShort && entry->count == 1) {
    const int orientation = directory.read_u16(entry->value_offset).value_or(1);
    if (orientation >= 1 && orientation <= 8) facts.orientation = orientation;
  }
  return nullptr;
}

const char* check_multi_picture(Bytes body) {
  constexpr uint16_t kPictures = 0xB001;
  constexpr uint16_t kPictureEntries = 0xB002;
  constexpr uint32_t kPictureEntryBytes = 16;
  constexpr const char* kRefusal = "odd multi-picture segment";
  const TiffDirectory directory(body.subspan(4));
  const auto pictures = directory.find(kPictures);
  const auto entries = directory.find(kPictureEntries);
  if (!pictures || pictures->type != TiffDirectory::kLong || pictures->count != 1 || !entries ||
      entries->type != TiffDirectory::kUndefined)
    return kRefusal;
  const uint64_t count = directory.read_u32(pictures->value_offset).value_or(0);
  if (count == 0 || entries->count != count * kPictureEntryBytes) return kRefusal;
  if (uint64_t{entries->value_offset} + entries->count > directory.bytes().size()) return kRefusal;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t attribute_offset = entries->value_offset + i * kPictureEntryBytes;
    const uint32_t attribute = directory.read_u32(attribute_offset).value_or(~0u);
    if ((attribute >> 24 & 7) != 0) return kRefusal;  // only JPEG pictures are known
  }
  return nullptr;
}

const char* check_icc(Bytes body) {
  constexpr size_t kIccHeaderBytes = 14;
  return body.size() < kIccHeaderBytes ? "odd ICC segment" : nullptr;
}

// Pillow survives a list of resources that ends anywhere but between a code and its name.
const char* check_photoshop(Bytes body) {
  size_t at = 14;
  while (at + 4 <= body.size() && starts_with(body.subspan(at), "8BIM"sv)) {
    at += 4 + 2;
    if (at > body.size()) return nullptr;
    if (at == body.size()) return "odd Photoshop segment";
    at += 1 + body[at];
    at += at & 1;
    if (at + 4 > body.size()) return nullptr;
    const size_t size = read_be32(body, at);
    at += 4 + size;
    at += at & 1;
  }
  return nullptr;
}

}  // namespace

const char* read_app_segment(AppFacts& facts, int number, Bytes body) {
  switch (number) {
    case 0:
      return starts_with(body, "JFIF"sv) ? read_jfif(facts, body) : nullptr;
    case 1:
      return starts_with(body, "Exif\0\0"sv) ? read_exif(facts, body) : nullptr;
    case 2:
      if (starts_with(body, "ICC_PROFILE\0"sv)) return check_icc(body);
      if (starts_with(body, "MPF\0"sv)) return check_multi_picture(body);
      return nullptr;
    case 13:
      return starts_with(body, "Photoshop 3.0\0"sv) ? check_photoshop(body) : nullptr;
    case 14:
      return starts_with(body, "Adobe"sv) ? read_adobe(facts, body) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace penstock
