// Writes a bit string, least significant bit first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

static_assert(std::endian::native == std::endian::little, "bit strings are moved as whole words");

class BitWriter {
 public:
<<<<<<< HEAD
  /// Requires room for all that will be put, and for a word more.
  explicit BitWriter(uint8_t* target) : next_(target) {}

  /// Requires count <= kMostBits and bits < 2^count.
  static constexpr int kMostBits = 56;
=======
  static constexpr int kMaxBits = 56;  // that can be put at once

  /// `bytes` must have room for all bits and 8 bytes more.
  explicit BitWriter(uint8_t* bytes) : next_(bytes) {}

  /// Requires count <= kMaxBits and bits < 2^count.
>>>>>>> c9e8f4505b2ceff410d8def4b6db5eaa7db13dd6
  void put(uint64_t bits, int count) {
    pending_ |= bits << filled_;
    std::memcpy(next_, &pending_, sizeof pending_);
    filled_ += count;
<<<<<<< HEAD
    const int whole = filled_ >> 3;
    next_ += whole;
    pending_ >>= 8 * whole;
    filled_ &= 7;
  }

  /// Fills up the last byte with zeros; returns the byte behind it.
  uint8_t* finish() { return next_ + (filled_ > 0 ? 1 : 0); }
=======
    std::memcpy(next_, &pending_, sizeof pending_);
    next_ += filled_ >> 3;
    pending_ >>= filled_ & ~7;
    filled_ &= 7;
  }

  /// The end of the bytes written; the last one is filled up with zeros.
  uint8_t* end() const { return next_ + (filled_ > 0 ? 1 : 0); }
>>>>>>> c9e8f4505b2ceff410d8def4b6db5eaa7db13dd6

 private:
  uint8_t* next_;
  uint64_t pending_ = 0;
  int filled_ = 0;  // bits pending, less than a byte
};

}  // namespace penstock
