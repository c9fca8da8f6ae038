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

}  // namespace

const RowShuffle row_shuffle{interleave, deinterleave, mirror};

}  // namespace penstock::scalar
