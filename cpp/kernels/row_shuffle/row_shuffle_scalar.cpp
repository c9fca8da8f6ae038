#include <algorithm>
#include <cstring>

#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock::scalar {
namespace {

void interleave(uint8_t* rgb, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                int width) {
  for (int x = 0; x < width; ++x, rgb += 3) {
    rgb[0] = red[x];
    rgb[1] = green[x];
    rgb[2] = blue[x];
  }
}

void deinterleave(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgb, int width) {
  for (int x = 0; x < width; ++x, rgb += 3) {
    red[x] = rgb[0];
    green[x] = rgb[1];
    blue[x] = rgb[2];
  }
}

void mirror(uint8_t* target, const uint8_t* source, int width) {
  for (int x = 0; x < width; ++x) target[x] = source[width - 1 - x];
}

void interleave_rgbx(uint8_t* rgbx, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                     int width) {
  for (int x = 0; x < width; ++x, rgbx += 4) {
    rgbx[0] = red[x];
    rgbx[1] = green[x];
    rgbx[2] = blue[x];
    rgbx[3] = 255;
  }
}

void deinterleave_rgbx(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgbx,
                       int width) {
  for (int x = 0; x < width; ++x, rgbx += 4) {
    red[x] = rgbx[0];
    green[x] = rgbx[1];
    blue[x] = rgbx[2];
  }
}

void shift(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y, int64_t by,
           const uint8_t (&fill)[3]) {
  const int64_t width = out.width;
  int64_t begin = std::clamp<int64_t>(-by, 0, width);
  int64_t end = std::clamp<int64_t>(in.width - by, begin, width);
  if (in_y < 0 || in_y >= in.height) begin = end = width;
  for (int c = 0; c < out.channels; ++c) {
    uint8_t* to = out.row(c, out_y);
    std::memset(to, fill[c], begin);
    if (begin < end) {
      const uint8_t* from = in.row(std::min(c, in.channels - 1), static_cast<int>(in_y));
      std::memcpy(to + begin, from + begin + by, end - begin);
    }
    std::memset(to + end, fill[c], width - end);
  }
}

void copy(uint8_t* target, const uint8_t* source, size_t bytes) {
  std::memcpy(target, source, bytes);
}

}  // namespace

const RowShuffle row_shuffle{interleave,        deinterleave, mirror, interleave_rgbx,
                             deinterleave_rgbx, shift,        copy,   copy};

}  // namespace penstock::scalar
