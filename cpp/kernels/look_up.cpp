#include "kernels/look_up.h"

namespace penstock {
namespace {

constexpr int kLevels = 256;
constexpr int kColours = 3;

template <class T>
void look_up(T* target, const uint8_t* levels, size_t pixels, const T* table, int channels,
             bool interleaved) {
  if (interleaved && channels == kColours) {
    const T *red = table, *green = table + kLevels, *blue = table + 2 * kLevels;
    for (size_t i = 0; i < pixels; ++i, target += kColours, levels += kColours) {
      target[0] = red[levels[0]];
      target[1] = green[levels[1]];
      target[2] = blue[levels[2]];
    }
    return;
  }
  for (int c = 0; c < channels; ++c, table += kLevels, target += pixels, levels += pixels)
    for (size_t i = 0; i < pixels; ++i) target[i] = table[levels[i]];
}

}  // namespace

void look_up_values(void* target, const uint8_t* levels, size_t pixels, const ValueTable& table,
                    bool interleaved) {
  const auto run = [&]<class T>(T) {
    look_up(static_cast<T*>(target), levels, pixels, static_cast<const T*>(table.values),
            table.channels, interleaved);
  };
  switch (table.bytes) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    default:
      return run(uint64_t{});
  }
}

}  // namespace penstock
