// One image of the user's, changed in the calling thread: what transforms that are called run on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/contract.h"
#include "engine/one_image.h"
#include "kernels/pad.h"

namespace nb = nanobind;
using namespace nb::literals;

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

/// The pixels of an image and whoever keeps them alive.
struct Pixels {
  ForeignPixels place;
  Element element = Element::uint8;
  nb::object owner;
};

void check_sides(int height, int width) {
  for (const int side : {height, width}) checked_side("Pixels", static_cast<size_t>(side));
}

/// Pillow keeps images with one band in bytes, and RGB in pixels of four.
Pixels of_pillow(const nb::capsule& array, int height, int width, int channels) {
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

/// A gray image is one plane, whatever its array calls its layout. A row stride of 0 is that of
/// rows without gaps, and so for planes.
Pixels at(size_t address, int height, int width, int channels, bool interleaved, Element element,
          nb::object owner, ptrdiff_t row_stride, ptrdiff_t plane_stride) {
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

Output output_to(const Pixels& target, const Format* format) {
  const ForeignPixels& place = target.place;
  const bool is_bytes = target.element == Element::uint8;
  if (is_bytes != (format == nullptr) || (format != nullptr && format->element != target.element))
    throw Error("One image: its format and its memory have different elements.");
  Output output;
  output.data = place.data;
  output.row_stride = place.row_stride;
  output.plane_stride = place.plane_stride;
  output.height = place.height;
  output.width = place.width;
  output.channels = place.channels;
  output.layout = place.layout;
  output.element = target.element;
  output.pass = format == nullptr ? nullptr : &format->pass;
  return output;
}

/// Beyond this a thread does not keep the memory of its last image.
constexpr int64_t kMostKeptPixels = int64_t{4} << 20;

void check_source(const Pixels& target, const Pixels& source) {
  if (source.element != Element::uint8 || source.place.data == target.place.data)
    throw Error("One image: the source must be uint8, and not the target itself.");
}

/// Calls `body` with memory to work in, without Python's lock.
template <class Body>
void with_scratch(int64_t pixels, Body body) {
  nb::gil_scoped_release released;
  if (pixels > kMostKeptPixels) {
    WorkerScratch own;
    body(own);
  } else {
    thread_local WorkerScratch kept;
    body(kept);
  }
}

void run(const Pixels& target, const Pixels& source, const Program& program,
         const Format* format = nullptr) {
  const ForeignPixels& from = source.place;
  check_source(target, source);
  const Region size = size_after(program, from.height, from.width);
  if (size.height != target.place.height || size.width != target.place.width)
    throw Error("One image: the result is " + std::to_string(size.height) + "x" +
                std::to_string(size.width) + ", but there is room for " +
                std::to_string(target.place.height) + "x" + std::to_string(target.place.width) +
                ".");
  const Output output = output_to(target, format);
  const int64_t pixels =
      std::max(int64_t{from.height} * from.width, int64_t{output.height} * output.width);
  with_scratch(pixels, [&](WorkerScratch& scratch) { run_on_one(output, from, program, scratch); });
}

/// A step that takes this part of the image, and does nothing to it.
Step step_of(int top, int left, int height, int width) {
  Step step{};
  step.crop_top = top;
  step.crop_left = left;
  step.crop_height = step.window_height = height;
  step.crop_width = step.window_width = width;
  step.filter = -1;
  step.dct_scale = 1;
  return step;
}

void copy(const Pixels& target, const Pixels& source, int top, int left, bool across, bool down,
          const Format* format) {
  Step step = step_of(top, left, target.place.height, target.place.width);
  step.flip_horizontal = across;
  step.flip_vertical = down;
  run(target, source, {{&step, 1}, {}}, format);
}

void resize(const Pixels& target, const Pixels& source, int top, int left, int height, int width,
            int filter, bool vertical_first, const Format* format,
            const std::optional<std::array<float, 4>>& box) {
  Step step = step_of(top, left, height, width);
  step.filter = filter;
  if (box) {
    step.box_left = std::bit_cast<int32_t>((*box)[0]);
    step.box_top = std::bit_cast<int32_t>((*box)[1]);
    step.box_right = std::bit_cast<int32_t>((*box)[2]);
    step.box_bottom = std::bit_cast<int32_t>((*box)[3]);
  }
  step.vertical_first = vertical_first;
  step.resize_height = step.window_height = target.place.height;
  step.resize_width = step.window_width = target.place.width;
  run(target, source, {{&step, 1}, {}}, format);
}

void resize_like_torch(const Pixels& target, const Pixels& source, int filter, bool antialias) {
  check_source(target, source);
  const ForeignPixels &to = target.place, &from = source.place;
  const auto kind = static_cast<Filter>(filter);
  if (to.channels != from.channels || (kind != Filter::bilinear && kind != Filter::bicubic))
    throw Error(
        "One image: torch's weights are for bilinear and bicubic filters, and the result has the "
        "image's channels.");
  const Output output = output_to(target, nullptr);
  const int64_t pixels =
      std::max(int64_t{from.height} * from.width, int64_t{output.height} * output.width);
  with_scratch(pixels, [&](WorkerScratch& scratch) {
    resize_one_like_torch(output, from, kind, antialias, scratch);
  });
}

void pad_one(const Pixels& target, const Pixels& source, int left, int top, PadMode mode,
             uint32_t fill) {
  Step step = step_of(0, 0, target.place.height, target.place.width);
  step.pad_left = left;
  step.pad_top = top;
  step.pad_right = target.place.width - source.place.width - left;
  step.pad_bottom = target.place.height - source.place.height - top;
  step.pad_mode = static_cast<int32_t>(mode);
  step.pad_fill = static_cast<int32_t>(fill);
  run(target, source, {{&step, 1}, {}});
}

void table(const Pixels& target, const Pixels& source, const nb::bytes& levels) {
  check_source(target, source);
  const ForeignPixels &to = target.place, &from = source.place;
  const bool is_same = to.height == from.height && to.width == from.width;
  if (!is_same || to.channels != from.channels || levels.size() != size_t{256} * from.channels)
    throw Error(
        "One image: a table has 256 levels for each channel, and the result the image's "
        "size and channels.");
  Lut lut{};
  std::memcpy(lut.value, levels.c_str(), levels.size());
  const Output output = output_to(target, nullptr);
  with_scratch(int64_t{from.height} * from.width,
               [&](WorkerScratch& scratch) { look_up_on_one(output, from, lut, scratch); });
}

void effect(const Pixels& target, const Pixels& source, EffectKind kind,
            const std::vector<double>& numbers) {
  if (numbers.size() > static_cast<size_t>(kEffectNumbers))
    throw Error("One image: an effect has at most " + std::to_string(kEffectNumbers) + " numbers.");
  const Step step = step_of(0, 0, source.place.height, source.place.width);
  Effect effect{};
  effect.kind = kind;
  effect.height = target.place.height;
  effect.width = target.place.width;
  std::copy(numbers.begin(), numbers.end(), effect.numbers);
  run(target, source, {{&step, 1}, {&effect, 1}});
}

}  // namespace

void bind_one_image(nb::module_& m) {
  nb::class_<Pixels>(m, "Pixels", "Where the pixels of one image lie.")
      .def_static("of_pillow", &of_pillow, "array"_a, "height"_a, "width"_a, "channels"_a,
                  "Those of a Pillow image of mode L or RGB, by its Arrow array.")
      .def_static("at", &at, "address"_a, "height"_a, "width"_a, "channels"_a, "interleaved"_a,
                  "element"_a, "owner"_a, "row_stride"_a = 0, "plane_stride"_a = 0,
                  "Those of an array of gray or RGB pixels, which `owner` keeps alive. Strides are "
                  "in bytes; 0 stands for rows and planes without gaps between them.");
  m.def("copy_one", &copy, "target"_a, "source"_a, "top"_a, "left"_a, "flip_horizontal"_a,
        "flip_vertical"_a, "format"_a.none() = nb::none(),
        "Copy the part of an image that begins at (top, left) and has the target's size.");
  m.def("resize_one", &resize, "target"_a, "source"_a, "top"_a, "left"_a, "height"_a, "width"_a,
        "filter"_a, "vertical_first"_a, "format"_a.none() = nb::none(), "box"_a = nb::none(),
        "Resize a part of an image to the target's size; of that part only a box (left, top, "
        "right, bottom), if there is one.");
  m.def("resize_like_torch", &resize_like_torch, "target"_a, "source"_a, "filter"_a, "antialias"_a,
        "Resize an image of bytes to the target's size, with the weights that torch has for them.");
  m.def("pad_one", &pad_one, "target"_a, "source"_a, "left"_a, "top"_a, "mode"_a, "fill"_a,
        "Put an image into a larger one, at (top, left).");
  m.def("table_one", &table, "target"_a, "source"_a, "levels"_a,
        "Give each level of each channel its new one: 256 bytes for each channel.");
  m.def("effect_one", &effect, "target"_a, "source"_a, "effect"_a, "numbers"_a,
        "Apply one effect, with its numbers in the order of cpp/base/effects.def.");
}

}  // namespace penstock
