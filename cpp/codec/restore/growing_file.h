// A file that is being written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace penstock {

/// Only the first `used` bytes of `bytes` are part of the file: a vector that shrinks and grows
/// would be cleared again and again.
struct GrowingFile {
  std::vector<uint8_t>& bytes;
  size_t used = 0;

  /// Room for `count` more bytes, which begin where the returned pointer points.
  uint8_t* reserve(size_t count) {
    if (bytes.size() - used < count) bytes.resize(used + count + bytes.size() / 2);
    return bytes.data() + used;
  }

  void append(std::span<const uint8_t> more) {
    std::copy(more.begin(), more.end(), reserve(more.size()));
    used += more.size();
  }

  void append_marker(uint8_t marker) {
    const uint8_t both[] = {0xFF, marker};
    append(both);
  }

  /// Entropy-coded data: a zero is stuffed behind each 0xFF.
  void append_stuffed(const uint8_t* from, const uint8_t* end) {
    uint8_t* target = reserve(2 * (end - from));
    while (from != end) {
      const auto* found = static_cast<const uint8_t*>(std::memchr(from, 0xFF, end - from));
      const uint8_t* plain_end = found != nullptr ? found + 1 : end;
      target = std::copy(from, plain_end, target);
      if (found != nullptr) *target++ = 0;
      from = plain_end;
    }
    used = target - bytes.data();
  }
};

}  // namespace penstock
