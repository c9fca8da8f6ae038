#include <algorithm>

#include "codec/reconstruct.h"
#include "codec/reconstruct/upsample.h"

namespace penstock::scalar {
namespace {

uint8_t clamp_to_byte(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

/// JFIF's matrix in 16-bit fixed point; green is rounded once, after the sum of both its parts.
void convert(uint8_t* __restrict red, uint8_t* __restrict green, uint8_t* __restrict blue,
             const uint8_t* __restrict luma, const int8_t* __restrict cb,
             const int8_t* __restrict cr, int count) {
  for (int x = 0; x < count; ++x) {
    red[x] = clamp_to_byte(luma[x] + ((91881 * cr[x] + 32768) >> 16));
    green[x] = clamp_to_byte(luma[x] + ((-22554 * cb[x] - 46802 * cr[x] + 32768) >> 16));
    blue[x] = clamp_to_byte(luma[x] + ((116130 * cb[x] + 32768) >> 16));
  }
}

}  // namespace

void rgb_row(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
             const SamplePlane (&chroma)[2], int y, int left, int right,
             const UpsampleRow& scratch) {
  upsample_row(scratch.blue, chroma[0], upsampling_of(chroma[0]), y, left, right);
  upsample_row(scratch.red, chroma[1], upsampling_of(chroma[1]), y, left, right);
  const uint8_t* samples = luma.origin + (y - luma.top) * luma.stride + (left - luma.left);
  convert(red, green, blue, samples, scratch.blue, scratch.red, right - left);
}

}  // namespace penstock::scalar
