// The markers of a JPEG file, and the segments that follow most of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

enum Marker : uint8_t {
  kSof0 = 0xC0,
  kSof1 = 0xC1,
  kSof2 = 0xC2,
  kDht = 0xC4,
  kSof9 = 0xC9,
  kSof10 = 0xCA,
  kDac = 0xCC,
  kRst0 = 0xD0,
  kRst7 = 0xD7,
  kSoi = 0xD8,
  kEoi = 0xD9,
  kSos = 0xDA,
  kDqt = 0xDB,
  kDri = 0xDD,
  kApp0 = 0xE0,
  kApp15 = 0xEF,
  kCom = 0xFE,
};

/// Frames that libjpeg decodes.
inline bool is_frame(uint8_t marker) {
  return marker == kSof0 || marker == kSof1 || marker == kSof2 || marker == kSof9 ||
         marker == kSof10;
}

inline bool is_restart(uint8_t marker) { return marker >= kRst0 && marker <= kRst7; }

/// Takes the marker at `at`, with the fill bytes before it, and moves `at` behind it.
/// Returns nullptr, or what is wrong.
const char* next_marker(uint8_t& marker, std::span<const uint8_t> bytes, size_t& at);

/// The same for the body of the segment at `at`, which begins with its length.
const char* next_body(std::span<const uint8_t>& body, std::span<const uint8_t> bytes, size_t& at);

}  // namespace penstock
