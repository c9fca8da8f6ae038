#include "bindings/arguments.h"

#include "base/error.h"

namespace nb = nanobind;

namespace penstock {
namespace {

Element element_of(const char* where, const nb::dlpack::dtype& type) {
  if (type == nb::dtype<float>()) return Element::float32;
  if (type == nb::dtype<uint8_t>()) return Element::uint8;
  if (type == nb::dtype<uint16_t>()) return Element::bfloat16;  // NumPy has no such type: the bits
  if (type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float) && type.bits == 16)
    return Element::float16;
  throw Error(std::string(where) +
              ": the batch must be float32, float16, uint8, or uint16 for the "
              "bits of bfloat16. Convert it first.");
}

}  // namespace

int checked_side(const std::string& where, size_t side) {
  if (side < 1 || side > kLargestSide)
    throw Error(where + ": the image's sides must be 1 to " + std::to_string(kLargestSide) +
                " pixels, got " + std::to_string(static_cast<ptrdiff_t>(side)) + ".");
  return static_cast<int>(side);
}

Region region_in(const char* where, const Box& box, int64_t height, int64_t width,
                 const char* what) {
  const auto [top, left, box_height, box_width] = box;
  if (top < 0 || left < 0 || box_height < 0 || box_width < 0 ||
      int64_t{top} + box_height > height || int64_t{left} + box_width > width)
    throw Error(std::string(where) + ": the box (top, left, height, width) = (" +
                std::to_string(top) + ", " + std::to_string(left) + ", " +
                std::to_string(box_height) + ", " + std::to_string(box_width) +
                ") must lie inside the " + std::to_string(height) + "x" + std::to_string(width) +
                " " + what + ".");
  return {top, left, box_height, box_width};
}

BatchSlots slots_of(const char* where, const Batch& batch, const std::string& layout) {
  if (layout != "chw" && layout != "hwc")
    throw Error(std::string(where) + ": layout must be chw or hwc, got '" + layout + "'.");
  const bool interleaved = layout == "hwc";
  const size_t channels = batch.shape(interleaved ? 3 : 1);
  if (channels != 3)
    throw Error(std::string(where) + ": images of a batch have 3 channels, got " +
                std::to_string(channels) + " with layout " + layout + ".");
  for (size_t axis = 1; axis < 4; ++axis)
    if (batch.shape(axis) < 1 || batch.shape(axis) > kLargestSide)
      throw Error(std::string(where) + ": the images' sides must be 1 to " +
                  std::to_string(kLargestSide) + " pixels, got " +
                  std::to_string(batch.shape(axis)) + ".");
  BatchSlots slots;
  Output& first = slots.first;
  first.data = batch.data();
  first.element = element_of(where, batch.dtype());
  first.layout = interleaved ? Layout::hwc : Layout::chw;
  first.height = static_cast<int>(batch.shape(interleaved ? 1 : 2));
  first.width = static_cast<int>(batch.shape(interleaved ? 2 : 3));
  const ptrdiff_t row = static_cast<ptrdiff_t>(first.width) * size_of(first.element);
  first.row_stride = interleaved ? 3 * row : row;
  first.plane_stride = interleaved ? 0 : row * first.height;
  slots.slot_stride = 3 * row * first.height;
  return slots;
}

}  // namespace penstock
