// What a JPEG's application segments say, and whether Pillow's header parser can read them.
#pragma once

#include <cstdint>
#include <span>

namespace penstock {

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
