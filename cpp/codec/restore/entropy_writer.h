// Bits of an entropy segment, most significant first; zeros are not stuffed yet.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

/// Writes whole words to memory that the caller has made large enough.
class EntropyWriter {
 public:
  explicit EntropyWriter(uint8_t* target) : next_(target) {}

  /// Requires 0 <= count <= 32 and no bits of `bits` beyond them.
  [[gnu::always_inline]] void put(uint32_t bits, int count) {
    free_ -= count;
    if (free_ >= 0) [[likely]] {
      word_ = word_ << count | bits;
      return;
    }
    store(word_ << (count + free_) | uint64_t{bits} >> -free_);
    next_ += sizeof word_;
    free_ += 64;
    word_ = bits;  // those already stored are shifted out in time
  }

  /// Fills the last byte with ones or zeros, and stores what has waited for a whole word.
  void pad(bool with_ones) {
    const int padding = free_ % 8;
    put(with_ones ? (1u << padding) - 1 : 0, padding);
    if (free_ < 64) store(word_ << free_);
    next_ += (64 - free_) / 8;
    free_ = 64;
  }

  /// Behind the last byte stored. Bits that wait are stored wherever the writer moves.
  uint8_t* position() const { return next_; }
  void move_to(uint8_t* position) { next_ = position; }

 private:
  [[gnu::always_inline]] void store(uint64_t word) {
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    std::memcpy(next_, &word, sizeof word);
  }

  uint8_t* next_;
  uint64_t word_ = 0;
  int free_ = 64;  // bits of `word_`
};

}  // namespace penstock
