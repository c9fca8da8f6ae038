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

}  // namespace

const RowShuffle row_shuffle{interleave, deinterleave, mirror, interleave_rgbx, deinterleave_rgbx};

}  // namespace penstock::scalar
