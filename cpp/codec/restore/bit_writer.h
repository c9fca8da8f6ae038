// Bits of an entropy segment, most significant first, with a zero stuffed behind every 0xFF byte.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

/// Writes to memory that the caller has made large enough.
class BitWriter {
 public:
  explicit BitWriter(uint8_t* target) : next_(target) {}

  /// Requires 0 <= count <= 32 and no bits of `bits` beyond them.
  void put(uint32_t bits, int count) {
    free_ -= count;
    if (free_ >= 0) [[likely]] {
      word_ = word_ << count | bits;
      return;
    }
    store(word_ << (count + free_) | uint64_t{bits} >> -free_);
    free_ += 64;
    word_ = bits;  // those already stored are shifted out in time
  }

  /// Fills the last byte with ones or zeros.
  void finish(bool with_ones) {
    const int padding = free_ % 8;
    put(with_ones ? (1u << padding) - 1 : 0, padding);
    const int bytes = (64 - free_) / 8;
    if (bytes > 0) store_bytes(word_ << free_, bytes);
    word_ = 0;
    free_ = 64;
  }

  uint8_t* position() const { return next_; }
  void move_to(uint8_t* position) { next_ = position; }

  /// A marker between finished segments.
  void put_marker(uint8_t marker) {
    *next_++ = 0xFF;
    *next_++ = marker;
  }

 private:
  void store(uint64_t word) {
    constexpr uint64_t kHighBits = 0x8080808080808080;
    constexpr uint64_t kOnes = 0x0101010101010101;
    if ((word & kHighBits & ~(word + kOnes)) !=
        0) {  // an 0xFF, or what a carry makes look like one
      store_bytes(word, 8);
      return;
    }
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    std::memcpy(next_, &word, sizeof word);
    next_ += sizeof word;
  }

  void store_bytes(uint64_t word, int count) {
    for (int i = 0; i < count; ++i) {
      const auto byte = static_cast<uint8_t>(word >> (56 - 8 * i));
      *next_++ = byte;
      if (byte == 0xFF) *next_++ = 0;
    }
  }

  uint8_t* next_;
  uint64_t word_ = 0;
  int free_ = 64;  // bits of `word_`
};

}  // namespace penstock
