// A planar image in recycled memory, with the slack that kernels want around it.
#pragma once

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

inline PlanarTarget working_image(Buffer& buffer, int height, int width, int channels) {
  PlanarTarget image;
  image.height = height;
  image.width = width;
  image.channels = channels;
  image.stride = (width + kRowSlack + 63) / 64 * 64;
  const size_t plane = static_cast<size_t>(image.stride) * height;
  // One row of slack in front and behind lets kernels load around the first and last pixel.
  uint8_t* first = buffer.reserve(plane * channels + 2 * kRowSlack) + kRowSlack;
  for (int c = 0; c < channels; ++c) image.plane[c] = first + c * plane;
  return image;
}

}  // namespace penstock
