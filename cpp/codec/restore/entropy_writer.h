// Bits of an entropy segment, most significant first; zeros are not stuffed yet.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

/// Writes whole words to memory that the caller has made large enough; eight bytes more than the
/// bits need may be written.
/// Always inlined: code compiled for one instruction set must not serve another.
class EntropyWriter {
 public:
  [[gnu::always_inline]] explicit EntropyWriter(uint8_t* target) : next_(target) {}

  /// Requires 0 <= count <= 32 and no bits of `bits` beyond them.
  [[gnu::always_inline]] void put(uint32_t bits, int count) {
    filled_ += count;
    if (filled_ <= 64) [[likely]] {
      word_ |= uint64_t{bits} << ((64 - filled_) & 63);
      return;
    }
    filled_ -= 64;
    store(word_ | uint64_t{bits} >> filled_);
    next_ += sizeof word_;
    word_ = uint64_t{bits} << (64 - filled_);
  }

  /// Leaves fewer than eight bits waiting, as put_long needs it.
  [[gnu::always_inline]] void settle() {
    store(word_);
    next_ += filled_ / 8;
    word_ = filled_ < 64 ? word_ << (filled_ & ~7) : 0;
    filled_ &= 7;
  }

  /// Without a branch, for bits of many codes, of which nobody can foresee whether they fill a
  /// word. Requires 0 <= count <= kMostLongBits, no bits of `bits` beyond them, and nothing but
  /// put_long since the writer was settled.
  static constexpr int kMostLongBits = 56;
  [[gnu::always_inline]] void put_long(uint64_t bits, int count) {
    filled_ += count;
    word_ |= bits << ((64 - filled_) & 63);
    store(word_);
    next_ += filled_ / 8;
    word_ <<= filled_ & ~7;
    filled_ &= 7;
  }

  /// Fills the last byte with ones or zeros, and stores what has waited for a whole word.
  void pad(bool with_ones) {
    const int padding = -filled_ & 7;
    put(with_ones ? (1u << padding) - 1 : 0, padding);
    settle();
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
  uint64_t word_ = 0;  // the bits that wait, from the highest down
  int filled_ = 0;     // how many these are: at most 64
};

}  // namespace penstock
