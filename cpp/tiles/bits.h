// Writes a bit string, least significant bit first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

static_assert(std::endian::native == std::endian::little, "bit strings are moved as whole words");

class BitWriter {
 public:
  static constexpr int kMaxBits = 56;  // that can be put at once

  /// `bytes` must have room for all bits and 8 bytes more.
  explicit BitWriter(uint8_t* bytes) : next_(bytes) {}

  /// Requires count <= kMaxBits and bits < 2^count.
  void put(uint64_t bits, int count) {
    pending_ |= bits << filled_;
    filled_ += count;
    std::memcpy(next_, &pending_, sizeof pending_);
    next_ += filled_ >> 3;
    pending_ >>= filled_ & ~7;
    filled_ &= 7;
  }

  /// The end of the bytes written; the last one is filled up with zeros.
  uint8_t* end() const { return next_ + (filled_ > 0 ? 1 : 0); }

 private:
  uint8_t* next_;
  uint64_t pending_ = 0;
  int filled_ = 0;  // bits pending, less than a byte
};

}  // namespace penstock
