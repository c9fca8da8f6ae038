// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a counter in,
// random bits out. penstock/rng.py has the same function in NumPy.
#pragma once

#include <array>
#include <cstdint>

namespace penstock {

struct PhiloxKey {
  uint32_t low = 0;
  uint32_t high = 0;
};

inline constexpr int kPhiloxRounds = 10;
inline constexpr uint32_t kPhiloxMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t kPhiloxWeyl[2] = {0x9E3779B9, 0xBB67AE85};

using PhiloxBlock = std::array<uint32_t, 4>;

// Always inlined: files for newer instruction sets use it, whose copy must not serve older CPUs.
[[gnu::always_inline]] constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t first = uint64_t{kPhiloxMultiplier[0]} * counter[0];
    const uint64_t second = uint64_t{kPhiloxMultiplier[1]} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key.low, static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key.high, static_cast<uint32_t>(first)};
    key.low += kPhiloxWeyl[0];
    key.high += kPhiloxWeyl[1];
  }
  return counter;
}

/// The four random words of counter (`group` low, `group` high, 0, 0).
[[gnu::always_inline]] constexpr PhiloxBlock philox4x32(uint64_t group, PhiloxKey key) {
  return philox4x32({static_cast<uint32_t>(group), static_cast<uint32_t>(group >> 32), 0, 0}, key);
}

}  // namespace penstock
