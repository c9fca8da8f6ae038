// Bit strings, least significant bit first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

static_assert(std::endian::native == std::endian::little, "bit strings are read as whole words");

/// Writes to memory that the caller has made large enough, in whole words.
class BitWriter {
 public:
  explicit BitWriter(uint8_t* target) : next_(target) {}

  /// Requires 0 <= count <= 63 and bits < 2^count.
  void put(uint64_t bits, int count) {
    pending_ |= bits << filled_;
    filled_ += count;
    if (filled_ < 64) return;
    std::memcpy(next_, &pending_, sizeof pending_);
    next_ += sizeof pending_;
    filled_ -= 64;
    pending_ = bits >> (count - filled_);  // filled_ < count, for a word was not full before
  }

  /// Fills up the last byte with zeros and returns the end of what was written.
  uint8_t* finish() {
    std::memcpy(next_, &pending_, sizeof pending_);
    return next_ + (filled_ + 7) / 8;
  }

 private:
  uint8_t* next_;
  uint64_t pending_ = 0;
  int filled_ = 0;  // bits, at most 63
};

}  // namespace penstock
