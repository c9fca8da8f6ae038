// Images as Python holds them, and new ones of the same kind: so a call needs one way into the
// core.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "bindings/pixels.h"

namespace penstock {

/// What holds the pixels of an image: the `im` of a Pillow image, or an array of bytes.
struct HeldImage {
  Pixels pixels;
  bool is_array = false;
  bool is_flat = false;  // an array (height, width), without an axis for channels
};

/// Nothing for images that are neither gray nor RGB, are empty, or do not show their memory, as
/// those of Pillow before 11.2.1. Pixels that do not lie together are copied.
std::optional<HeldImage> held_image(nanobind::handle memory);

/// Memory for a new image, and where it is.
struct Room {
  nanobind::object memory;
  Pixels pixels;
};

/// Room for an image of the kind of `like`. 0 stands for its own height, width or channels.
Room room_like(const HeldImage& like, int height, int width, int channels);

}  // namespace penstock
