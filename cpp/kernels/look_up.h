// Values of any type in the places of levels, from a table for each channel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

/// The values of 256 levels for each of `channels` channels (1 or 3), one channel after the other;
/// each value has `bytes` bytes (1, 2, 4 or 8), and nothing here looks into it.
struct ValueTable {
  const void* values = nullptr;
  int channels = 1;
  int bytes = 1;
};

/// Writes the values of `pixels` pixels, which lie as the levels do: plane after plane, or with the
/// channels of each pixel side by side. Both are aligned to a value.
void look_up_values(void* target, const uint8_t* levels, size_t pixels, const ValueTable& table,
                    bool interleaved);

}  // namespace penstock
