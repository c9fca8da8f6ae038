// Where the pixels of one image lie that is not ours.
#pragma once

#include <nanobind/nanobind.h>

#include "engine/one_image.h"
#include "kernels/output.h"

namespace penstock {

/// The pixels of an image and whoever keeps them alive.
struct Pixels {
  ForeignPixels place;
  Element element = Element::uint8;
  nanobind::object owner;
};

/// Those of a Pillow image by its Arrow array: Pillow keeps images with one band in bytes, and RGB
/// in pixels of four.
Pixels pixels_of_pillow(const nanobind::capsule& array, int height, int width, int channels);

/// Those at an address. A gray image is one plane, whatever its array calls its layout. A row
/// stride of 0 is that of rows without gaps, and so for planes.
Pixels pixels_at(size_t address, int height, int width, int channels, bool interleaved,
                 Element element, nanobind::object owner, ptrdiff_t row_stride = 0,
                 ptrdiff_t plane_stride = 0);

}  // namespace penstock
