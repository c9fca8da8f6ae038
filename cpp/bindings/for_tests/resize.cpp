// Resizing and padding of one image.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/names.h"
#include "kernels/copy_rows.h"
#include "kernels/pad.h"
#include "kernels/resample.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Pixels = nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy>;

struct Shape {
  int height;
  int width;
  int channels;
};

Shape shape_of(const char* where, const Pixels& image) {
  const size_t channels = image.shape(2);
  if (channels != 1 && channels != 3)
    throw Error(std::string(where) + ": the image must have 1 or 3 channels, got " +
                std::to_string(channels) + ". Convert it to gray or RGB first.");
  for (const size_t side : {image.shape(0), image.shape(1)})
    if (side < 1 || side > kLargestSide)
      throw Error(std::string(where) + ": the image's sides must be 1 to " +
                  std::to_string(kLargestSide) + " pixels, got " + std::to_string(side) + ".");
  return {static_cast<int>(image.shape(0)), static_cast<int>(image.shape(1)),
          static_cast<int>(channels)};
}

void require_side(const char* where, const char* what, int64_t side) {
  if (side < 1 || side > kLargestSide)
    throw Error(std::string(where) + ": " + what + " must be 1 to " + std::to_string(kLargestSide) +
                ", got " + std::to_string(side) + ".");
}

SourceBox box_in(const std::array<float, 4>& box, const Shape& shape, int filter) {
  const auto [left, top, right, bottom] = box;
  if (!(left >= 0 && top >= 0 && left < right && top < bottom &&
        right <= static_cast<float>(shape.width) && bottom <= static_cast<float>(shape.height)))
    throw Error("resize: the box (left, top, right, bottom) = (" + std::to_string(left) + ", " +
                std::to_string(top) + ", " + std::to_string(right) + ", " + std::to_string(bottom) +
                ") must not be empty and must lie inside the " + std::to_string(shape.height) +
                "x" + std::to_string(shape.width) + " image.");
  if (static_cast<Filter>(filter) == Filter::nearest)
    throw Error("resize: box is not for the nearest filter. Crop first.");
  return {top, left, bottom, right};
}

nb::dlpack::dtype dtype_of(Element element) {
  switch (element) {
    case Element::float32:
      return nb::dtype<float>();
    case Element::float16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case Element::bfloat16:  // NumPy has no such type: the bits
      return nb::dtype<uint16_t>();
    case Element::uint8:
      break;
  }
  return nb::dtype<uint8_t>();
}

Array array_owning(std::unique_ptr<uint8_t[]> memory, std::array<size_t, 3> shape,
                   nb::dlpack::dtype dtype) {
  uint8_t* data = memory.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  return Array(data, shape.size(), shape.data(), owner, nullptr, dtype);
}

// Sends a region of an HxWxC array to a sink, whatever its number of channels.
void feed(RowSink& sink, const uint8_t* pixels, const Shape& shape, const Region& region) {
  Buffer scratch;
  if (shape.channels == 3) {
    feed_interleaved(sink, pixels, ptrdiff_t{3} * shape.width, region, scratch);
    return;
  }
  const size_t bytes = static_cast<size_t>(shape.height) * shape.width;
  std::copy_n(pixels, bytes, scratch.reserve(bytes + kRowSlack));
  feed_planar(sink, {{scratch.data()}, shape.width, shape.height, shape.width, 1}, region);
}

Array resize(const Pixels& image, int out_height, int out_width, int filter, const Box& window,
             bool vertical_first, bool flip_horizontal, bool flip_vertical,
             const std::string& element_name, const std::string& layout_name, float scale,
             const std::array<float, 3>& mean, const std::array<float, 3>& std, float divisor,
             const std::optional<std::array<float, 4>>& box) {
  const Shape shape = shape_of("resize", image);
  require_side("resize", "out_height", out_height);
  require_side("resize", "out_width", out_width);
  if (filter < 0 || filter > static_cast<int>(Filter::hamming))
    throw Error("resize: filter must be one of Pillow's numbers 0 to 5, got " +
                std::to_string(filter) + ".");
  if (window[2] < 1 || window[3] < 1)
    throw Error("resize: the window must not be empty, got " + std::to_string(window[2]) + "x" +
                std::to_string(window[3]) + ".");
  const Region wanted = region_in("resize", window, out_height, out_width, "result");
  std::optional<SourceBox> source_box;
  if (box) source_box = box_in(*box, shape, filter);
  const Element element = value_in(kElements, "resize element", element_name);
  const Layout layout = value_in(kLayouts, "resize layout", layout_name);

  const size_t height = wanted.height;
  const size_t width = wanted.width;
  const size_t bytes = height * width * 3 * size_of(element);
  std::unique_ptr<uint8_t[]> memory(new uint8_t[bytes]);
  {
    nb::gil_scoped_release released;
    const FinalPass pass = make_final_pass(scale, mean.data(), std.data(), divisor);
    const ptrdiff_t row_stride = width * size_of(element) * (layout == Layout::hwc ? 3 : 1);
    const Output output{memory.get(),  row_stride,   static_cast<ptrdiff_t>(height) * row_stride,
                        wanted.height, wanted.width, 3,
                        layout,        element,      &pass};
    const ResizeSpec spec{shape.height,
                          shape.width,
                          shape.channels,
                          out_height,
                          out_width,
                          wanted,
                          static_cast<Filter>(filter),
                          vertical_first,
                          flip_horizontal,
                          flip_vertical,
                          source_box};
    ResampleScratch scratch;
    RowSink& sink = begin_resample(scratch, spec, output);
    feed(sink, image.data(), shape, needed_input(spec));
  }
  const std::array<size_t, 3> result = layout == Layout::hwc
                                           ? std::array<size_t, 3>{height, width, 3}
                                           : std::array<size_t, 3>{3, height, width};
  return array_owning(std::move(memory), result, dtype_of(element));
}

PlanarTarget planes_in(uint8_t* memory, int height, int width, int channels) {
  const ptrdiff_t plane = static_cast<ptrdiff_t>(height) * width;
  return {{memory, memory + plane, memory + 2 * plane}, width, height, width, channels};
}

Array pad_image(const Pixels& image, int left, int top, int right, int bottom,
                const std::string& mode, const std::array<uint8_t, 3>& fill) {
  const Shape shape = shape_of("pad", image);
  for (const int amount : {left, top, right, bottom})
    if (amount < 0)
      throw Error("pad: amounts must not be negative, got " + std::to_string(amount) +
                  ". Crop instead.");
  const int64_t height = int64_t{shape.height} + top + bottom;
  const int64_t width = int64_t{shape.width} + left + right;
  require_side("pad", "the padded height", height);
  require_side("pad", "the padded width", width);
  const PadSpec spec{
      left, top, right, bottom, value_in(kPadModes, "pad mode", mode), {fill[0], fill[1], fill[2]}};
  const Region window{0, 0, static_cast<int>(height), static_cast<int>(width)};

  std::unique_ptr<uint8_t[]> result(new uint8_t[3 * height * width]);
  {
    nb::gil_scoped_release released;
    const size_t source_bytes = size_t{3} * shape.height * shape.width;
    std::unique_ptr<uint8_t[]> source(new uint8_t[source_bytes]);
    const PlanarTarget planes = planes_in(source.get(), shape.height, shape.width, shape.channels);
    const Output whole{planes.plane[0], planes.stride, planes.stride * planes.height,
                       planes.height,   planes.width,  planes.channels,
                       Layout::chw,     Element::uint8};
    CopyScratch scratch;
    feed(begin_copy(scratch, shape.channels, false, false, whole), image.data(), shape,
         {0, 0, shape.height, shape.width});
    pad(planes_in(result.get(), window.height, window.width, 3), planes.view(), spec, window);
  }
  return array_owning(std::move(result),
                      {3, static_cast<size_t>(height), static_cast<size_t>(width)},
                      nb::dtype<uint8_t>());
}

}  // namespace

void bind_resize(nb::module_& m) {
  m.def("resize", &resize, "image"_a, "out_height"_a, "out_width"_a, "filter"_a, "window"_a,
        "vertical_first"_a = false, "flip_horizontal"_a = false, "flip_vertical"_a = false,
        "element"_a = "uint8", "layout"_a = "hwc", "scale"_a = 1.0f,
        "mean"_a = std::array<float, 3>{0, 0, 0}, "std"_a = std::array<float, 3>{1, 1, 1},
        "divisor"_a = 1.0f, "box"_a = nb::none(),
        "Resize an HxWxC image as Pillow does (filter: Pillow's number), keep `window` (top, left, "
        "height, width) of the result, mirror it, and convert it. `box` is Pillow's: the part "
        "(left, top, right, bottom) of the image to resize, in fractions. Gray becomes three "
        "channels. bfloat16 comes back as uint16 bits.");
  m.def("pad", &pad_image, "image"_a, "left"_a, "top"_a, "right"_a, "bottom"_a,
        "mode"_a = "constant", "fill"_a = std::array<uint8_t, 3>{0, 0, 0},
        "Pad an HxWxC image as torchvision does on Pillow images; returns three planes.");
}

}  // namespace penstock
