// Bit strings, least significant bit first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

static_assert(std::endian::native == std::endian::little, "bit strings are read as whole words");

class BitWriter {
 public:
  /// Requires room for all that will be put, and for a word more.
  explicit BitWriter(uint8_t* target) : next_(target) {}

  /// Requires count <= kMostBits and bits < 2^count.
  static constexpr int kMostBits = 56;
  void put(uint64_t bits, int count) {
    pending_ |= bits << filled_;
    std::memcpy(next_, &pending_, sizeof pending_);
    filled_ += count;
    const int whole = filled_ >> 3;
    next_ += whole;
    pending_ >>= 8 * whole;
    filled_ &= 7;
  }

  /// Fills up the last byte with zeros; returns the byte behind it.
  uint8_t* finish() { return next_ + (filled_ > 0 ? 1 : 0); }

 private:
  uint8_t* next_;
  uint64_t pending_ = 0;
  int filled_ = 0;
};

}  // namespace penstock
