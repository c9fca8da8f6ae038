// Bit strings, least significant bit first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace penstock {

static_assert(std::endian::native == std::endian::little, "bit strings are read as whole words");

class BitWriter {
 public:
  explicit BitWriter(std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  /// Requires count <= 32 and bits < 2^count.
  void put(uint64_t bits, int count) {
    pending_ |= bits << filled_;
    filled_ += count;
    while (filled_ >= 8) flush_byte();
  }

  void align() {
    if (filled_ > 0) flush_byte();
    filled_ = 0;
  }

 private:
  void flush_byte() {
    bytes_.push_back(static_cast<uint8_t>(pending_));
    pending_ >>= 8;
    filled_ -= 8;
  }

  std::vector<uint8_t>& bytes_;
  uint64_t pending_ = 0;
  int filled_ = 0;
};

}  // namespace penstock
