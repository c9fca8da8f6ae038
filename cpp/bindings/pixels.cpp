#include "bindings/pixels.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "bindings/arguments.h"

namespace nb = nanobind;

namespace penstock {
namespace {

/// An array of the Arrow C data interface, which says how libraries hand memory to each other
/// (https://arrow.apache.org/docs/format/CDataInterface.html).
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

void check_sides(int height, int width) {
  for (const int side : {height, width}) checked_side("Pixels", static_cast<size_t>(side));
}

}  // namespace

Pixels pixels_of_pillow(const nb::capsule& array, int height, int width, int channels) {
  check_sides(height, width);
  const auto* whole =
      static_cast<const ArrowArray*>(PyCapsule_GetPointer(array.ptr(), "arrow_array"));
  if (whole == nullptr) throw nb::python_error();
  const ArrowArray* bytes = whole;
  const int64_t pixels = int64_t{height} * width;
  if (channels == 3 && whole->n_children == 1) bytes = whole->children[0];
  const int64_t expected = channels == 3 ? 4 * pixels : pixels;
  if ((channels != 1 && channels != 3) || bytes->n_buffers != 2 || bytes->length != expected ||
      bytes->offset != 0 || whole->offset != 0 || bytes->buffers[1] == nullptr)
    throw Error("Pixels.of_pillow: the memory is not that of an image of " +
                std::to_string(height) + "x" + std::to_string(width) + " pixels with " +
                std::to_string(channels) + " channels.");
  Pixels found;
  // An image that we have just made is ours to write, although Arrow has only constant memory.
  found.place.data = static_cast<uint8_t*>(const_cast<void*>(bytes->buffers[1]));
  found.place.row_stride = ptrdiff_t{width} * (channels == 3 ? 4 : 1);
  found.place.height = height;
  found.place.width = width;
  found.place.channels = channels;
  found.place.layout = channels == 3 ? Layout::rgbx : Layout::chw;
  found.owner = array;
  return found;
}

Pixels pixels_at(size_t address, int height, int width, int channels, bool interleaved,
                 Element element, nb::object owner, ptrdiff_t row_stride, ptrdiff_t plane_stride) {
  check_sides(height, width);
  if (address == 0 || (channels != 1 && channels != 3))
    throw Error("Pixels.at: an image needs memory and 1 or 3 channels, got " +
                std::to_string(channels) + ".");
  Pixels found;
  const ptrdiff_t row = ptrdiff_t{width} * size_of(element);
  const bool side_by_side = interleaved && channels == 3;
  const ptrdiff_t least = side_by_side ? 3 * row : row;
  if ((row_stride != 0 && row_stride < least) || plane_stride < 0)
    throw Error("Pixels.at: rows of " + std::to_string(least) + " bytes cannot lie " +
                std::to_string(row_stride) + " bytes apart.");
  found.place = {reinterpret_cast<uint8_t*>(address),
                 row_stride == 0 ? least : row_stride,
                 plane_stride == 0 ? row * height : plane_stride,
                 height,
                 width,
                 channels,
                 side_by_side ? Layout::hwc : Layout::chw};
  found.element = element;
  found.owner = std::move(owner);
  return found;
}

}  // namespace penstock
