// Philox4x32-10 (Salmon et al., 2011): a counter in, random bits out. penstock/rng.py has the same
// function in NumPy, and says what the counters mean.
#pragma once

#include <array>
#include <cstdint>

namespace penstock {

using PhiloxBlock = std::array<uint32_t, 4>;

struct PhiloxKey {
  uint32_t low = 0;
  uint32_t high = 0;
};

inline PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key.low, static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key.high, static_cast<uint32_t>(first)};
    key.low += 0x9E3779B9;
    key.high += 0xBB67AE85;
  }
  return counter;
}

}  // namespace penstock
