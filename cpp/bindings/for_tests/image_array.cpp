#include "bindings/for_tests/image_array.h"

#include "base/error.h"
#include "base/image.h"
#include "bindings/arguments.h"

namespace nb = nanobind;

namespace penstock {
namespace {

int checked_channels(const std::string& where, size_t channels) {
  if (channels != 1 && channels != 3)
    throw Error(where + ": the image must have 1 or 3 channels, got " + std::to_string(channels) +
                ". Convert it to gray or RGB first.");
  return static_cast<int>(channels);
}

}  // namespace

ImageArray::ImageArray(int height, int width, int channels)
    : image(working_image(memory_, height, width, channels)) {}

ImageArray::ImageArray(const std::string& where, const PixelArray& pixels)
    : ImageArray(checked_side(where, pixels.shape(0)), checked_side(where, pixels.shape(1)),
                 checked_channels(where, pixels.shape(2))) {
  const uint8_t* from = pixels.data();
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < image.channels; ++c) image.row(c, y)[x] = *from++;
}

nb::ndarray<nb::numpy, uint8_t> ImageArray::to_array() const {
  const size_t shape[3] = {static_cast<size_t>(image.height), static_cast<size_t>(image.width),
                           static_cast<size_t>(image.channels)};
  auto* pixels = new uint8_t[shape[0] * shape[1] * shape[2]];
  nb::capsule owner(pixels, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  uint8_t* to = pixels;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < image.channels; ++c) *to++ = image.row(c, y)[x];
  return nb::ndarray<nb::numpy, uint8_t>(pixels, 3, shape, owner);
}

}  // namespace penstock
