// The shapes in which pixels travel: planar 8-bit rows in, batch slots out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"

namespace penstock {

/// Readers may load (never use) this many bytes past the end of any row of a band or plane.
inline constexpr int kRowSlack = 64;

/// Bands other than the last hold a multiple of this many rows.
inline constexpr int kBandRows = 4;

/// A rectangle in pixels of the image it refers to.
struct Region {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

/// A read-only planar image: one plane for gray, three for RGB, all of one stride.
struct PlanarView {
  const uint8_t* plane[3] = {};
  ptrdiff_t stride = 0;
  int height = 0;
  int width = 0;
  int channels = 0;

  const uint8_t* row(int channel, int y) const { return plane[channel] + y * stride; }
};

/// A writable planar image.
struct PlanarTarget {
  uint8_t* plane[3] = {};
  ptrdiff_t stride = 0;
  int height = 0;
  int width = 0;
  int channels = 0;

  uint8_t* row(int channel, int y) const { return plane[channel] + y * stride; }
  PlanarView view() const {
    return {{plane[0], plane[1], plane[2]}, stride, height, width, channels};
  }
};

/// Some rows of a PlanarView or PlanarTarget.
template <class Image>
Image rows_of(Image image, int top, int height) {
  for (int c = 0; c < image.channels; ++c) image.plane[c] = image.row(c, top);
  image.height = height;
  return image;
}

/// A planar image in recycled memory, with the slack that kernels want around it.
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

/// Receives an image from top to bottom, some planar rows at a time.
///
/// Bands arrive in order and without gaps; `rows.height` is a multiple of kBandRows in every band
/// but the last. The rows belong to the producer and are gone after the call.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void take(const PlanarView& rows, int first_row) = 0;
};

}  // namespace penstock
