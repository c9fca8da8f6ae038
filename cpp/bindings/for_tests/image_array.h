// One image between NumPy and the kernels: interleaved pixels in an array, planes with slack here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

using PixelArray =
    nanobind::ndarray<const uint8_t, nanobind::ndim<3>, nanobind::c_contig, nanobind::device::cpu>;

/// A working image of its own.
class ImageArray {
 public:
  ImageArray(int height, int width, int channels);
  /// Copies height x width x 1 or 3 pixels; throws Error for other shapes.
  ImageArray(const std::string& where, const PixelArray& pixels);

  /// Height x width x channels.
  nanobind::ndarray<nanobind::numpy, uint8_t> to_array() const;

 private:
  Buffer memory_;  // before the image, which lies in it

 public:
  PlanarTarget image;
};

}  // namespace penstock
