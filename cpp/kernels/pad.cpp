#include "kernels/pad.h"

#include <algorithm>
#include <cstring>

namespace penstock {

int padded_source(int p, int size, PadMode mode) {
  if (p >= 0 && p < size) return p;
  switch (mode) {
    case PadMode::constant:
      return kPadOutside;
    case PadMode::edge:
      return std::clamp(p, 0, size - 1);
    case PadMode::reflect: {
      if (size == 1) return 0;
      const int period = 2 * (size - 1);
      const int phase = ((p % period) + period) % period;
      return phase < size ? phase : period - phase;
    }
    case PadMode::symmetric: {
      const int period = 2 * size;
      const int phase = ((p % period) + period) % period;
      return phase < size ? phase : period - 1 - phase;
    }
  }
  return kPadOutside;
}

namespace {

void pad_row(uint8_t* target, const uint8_t* source, int source_width, const PadSpec& spec,
             const Region& window, uint8_t fill) {
  // Columns of the window that lie in the image itself are copied, the others looked up.
  const int inside_begin = std::clamp(spec.left - window.left, 0, window.width);
  const int inside_end =
      std::clamp(spec.left + source_width - window.left, inside_begin, window.width);
  const auto look_up = [&](int x) {
    const int index = padded_source(window.left + x - spec.left, source_width, spec.mode);
    target[x] = index == kPadOutside ? fill : source[index];
  };
  for (int x = 0; x < inside_begin; ++x) look_up(x);
  if (inside_end > inside_begin)
    std::memcpy(target + inside_begin, source + (window.left + inside_begin - spec.left),
                inside_end - inside_begin);
  for (int x = inside_end; x < window.width; ++x) look_up(x);
}

}  // namespace

void pad(const PlanarTarget& target, const PlanarView& source, const PadSpec& spec,
         const Region& window) {
  for (int c = 0; c < target.channels; ++c) {
    const int source_channel = source.channels == 1 ? 0 : c;
    for (int y = 0; y < window.height; ++y) {
      const int row = padded_source(window.top + y - spec.top, source.height, spec.mode);
      if (row == kPadOutside)
        std::memset(target.row(c, y), spec.fill[c], window.width);
      else
        pad_row(target.row(c, y), source.row(source_channel, row), source.width, spec, window,
                spec.fill[c]);
    }
  }
}

}  // namespace penstock
