// Application segments of a JPEG file, and the TIFF directories in them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace penstock {

// The first directory of a TIFF structure, as EXIF and MPF segments embed one.

struct TiffEntry {
  uint16_t type = 0;
  uint32_t count = 0;
  uint32_t value_offset = 0;  // of the value's first byte, or of the four bytes that hold it inline
};

/// Bounds-checked access to the first directory; every reader answers nothing instead of failing.
class TiffDirectory {
 public:
  explicit TiffDirectory(std::span<const uint8_t> bytes);

  /// False if the header is not that of a TIFF or the directory is cut short.
  bool valid() const { return valid_; }
  /// The last entry of that tag, which is the one Pillow keeps.
  std::optional<TiffEntry> find(uint16_t tag) const;

  std::optional<uint16_t> read_u16(size_t offset) const;
  std::optional<uint32_t> read_u32(size_t offset) const;
  std::span<const uint8_t> bytes() const { return bytes_; }

  static constexpr uint16_t kShort = 3;
  static constexpr uint16_t kLong = 4;
  static constexpr uint16_t kRational = 5;
  static constexpr uint16_t kUndefined = 7;

 private:
  std::span<const uint8_t> bytes_;
  bool big_endian_ = false;
  bool valid_ = false;
  size_t entries_offset_ = 0;
  int entries_ = 0;
};

struct AppFacts {
  bool jfif = false;
  bool adobe = false;
  int adobe_transform = 0;
  bool exif = false;
  int orientation = 1;  // 1..8
};

/// Takes in the segment APP`number`. Returns nullptr, or why Pillow should judge this file: its
/// parser reads these segments without checking their lengths, and refuses the image if one
/// disagrees with its expectations.
const char* read_app_segment(AppFacts& facts, int number, std::span<const uint8_t> body);

}  // namespace penstock
