// Bits of an unstuffed entropy segment, most significant first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

/// Readable bytes behind a segment: what the longest block can ask for beyond its end, and a word.
inline constexpr size_t kBitReaderSlack = 320;

/// The next bits, left-justified in a word. Reading past the end is no error here: whoever uses the
/// reader asks `position` (or compares `next`) after each block.
/// Always inlined: code compiled for one instruction set must not serve another.
struct BitReader {
  const uint8_t* next = nullptr;
  uint64_t word = 0;
  int count = 0;  // bits of `word` that have been counted off `next`

  explicit BitReader(const uint8_t* bytes) : next(bytes) {}
  BitReader() = default;

  /// At least 56 bits afterwards.
  [[gnu::always_inline]] void refill() {
    uint64_t bytes;
    std::memcpy(&bytes, next, sizeof bytes);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    word |= bytes >> count;
    next += (63 - count) >> 3;
    count |= 56;
  }

  /// Requires 1 <= bits <= 63.
  [[gnu::always_inline]] uint64_t peek(int bits) const { return word >> (64 - bits); }

  [[gnu::always_inline]] void consume(int bits) {
    word <<= bits;
    count -= bits;
  }

  [[gnu::always_inline]] int64_t position(const uint8_t* begin) const {
    return (next - begin) * 8 - count;
  }
};

}  // namespace penstock
