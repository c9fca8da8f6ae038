// One image of the user's, changed in the calling thread: what transforms that are called run on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/contract.h"
#include "bindings/held_image.h"
#include "bindings/pixels.h"
#include "engine/one_image.h"
#include "kernels/elements.h"
#include "kernels/pad.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

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

void resize(const Pixels& target, const Pixels& source, const std::array<int, 4>& box, int filter,
            bool vertical_first, const std::optional<std::array<float, 4>>& part) {
  const auto [top, left, height, width] = box;
  Step step = step_of(top, left, height, width);
  step.filter = filter;
  if (part) {
    step.box_left = std::bit_cast<int32_t>((*part)[0]);
    step.box_top = std::bit_cast<int32_t>((*part)[1]);
    step.box_right = std::bit_cast<int32_t>((*part)[2]);
    step.box_bottom = std::bit_cast<int32_t>((*part)[3]);
  }
  step.vertical_first = vertical_first;
  step.resize_height = step.window_height = target.place.height;
  step.resize_width = step.window_width = target.place.width;
  run(target, source, {{&step, 1}, {}});
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

void look_up(const Pixels& target, const Pixels& source, const Lut& lut) {
  const Output output = output_to(target, nullptr);
  const ForeignPixels& from = source.place;
  with_scratch(int64_t{from.height} * from.width,
               [&](WorkerScratch& scratch) { look_up_on_one(output, from, lut, scratch); });
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
  look_up(target, source, lut);
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

// ---- new images of the kind of one that Python holds ----

/// What `write` makes of an image, in new memory of its kind; None for images that are not for us.
template <class Write>
nb::object anew(nb::handle memory, int height, int width, int channels, Write write) {
  const auto image = held_image(memory);
  if (!image) return nb::none();
  Room room = room_like(*image, height, width, channels);
  write(room.pixels, image->pixels);
  return std::move(room.memory);
}

nb::object effect_anew(nb::handle memory, EffectKind kind, const std::vector<double>& numbers,
                       int height, int width, int channels) {
  return anew(memory, height, width, channels, [&](const Pixels& target, const Pixels& source) {
    effect(target, source, kind, numbers);
  });
}

template <class Byte>
ElementRows<Byte> elements_of(const Pixels& pixels) {
  const ForeignPixels& place = pixels.place;
  const int bytes = place.layout == Layout::rgbx ? 4 : place.layout == Layout::hwc ? 3 : 1;
  return {place.data, place.row_stride, place.height, place.width, bytes};
}

nb::object copy_anew(nb::handle memory, int top, int left, int height, int width, bool across,
                     bool down) {
  return anew(memory, height, width, 0, [&](const Pixels& target, const Pixels& source) {
    auto part = elements_of<const uint8_t>(source);
    const Region box = region_in("copy_anew", {top, left, height, width}, part.height, part.width);
    part.data += box.top * part.stride + ptrdiff_t{box.left} * part.bytes;
    part.height = box.height;
    part.width = box.width;
    nb::gil_scoped_release released;
    copy_elements(elements_of<uint8_t>(target), part, across, down);
  });
}

nb::object pad_anew(nb::handle memory, const std::array<int, 4>& borders, PadMode mode,
                    uint32_t fill) {
  const auto image = held_image(memory);
  if (!image) return nb::none();
  for (const int border : borders)
    if (border < 0 || border > kLargestSide)
      throw Error("pad_anew: borders are 0 to " + std::to_string(kLargestSide) + ", got " +
                  std::to_string(border) + ".");
  const auto [left, top, right, bottom] = borders;
  const auto source = elements_of<const uint8_t>(image->pixels);
  Room room = room_like(*image, top + source.height + bottom, left + source.width + right, 0);
  const uint8_t element[4] = {static_cast<uint8_t>(fill), static_cast<uint8_t>(fill >> 8),
                              static_cast<uint8_t>(fill >> 16), 255};
  {
    nb::gil_scoped_release released;
    pad_elements(elements_of<uint8_t>(room.pixels), source, top, left, mode, element);
  }
  return std::move(room.memory);
}

nb::object resize_anew(nb::handle memory, const std::array<int, 4>& box, std::pair<int, int> size,
                       int filter, bool vertical_first,
                       const std::optional<std::array<float, 4>>& part) {
  return anew(memory, size.first, size.second, 0, [&](const Pixels& target, const Pixels& source) {
    resize(target, source, box, filter, vertical_first, part);
  });
}

/// A copy as an array (height, width, channels).
nb::object to_array(nb::handle memory) {
  auto image = held_image(memory);
  if (!image) return nb::none();
  image->is_array = true;
  image->is_flat = false;
  Room room = room_like(*image, 0, 0, 0);
  copy(room.pixels, image->pixels, 0, 0, false, false, nullptr);
  return std::move(room.memory);
}

/// A copy as the memory of a Pillow image.
nb::object to_pillow(const Pixels& pixels) {
  Room room = room_like({pixels, false, false}, 0, 0, 0);
  copy(room.pixels, pixels, 0, 0, false, false, nullptr);
  return std::move(room.memory);
}

nb::object array_to_pillow(nb::handle array) {
  const auto image = held_image(array);
  return image ? to_pillow(image->pixels) : nb::none();
}

/// Which levels an image has; of a large one, all are expected.
std::array<bool, 256> levels_in(const Pixels& image) {
  const auto rows = elements_of<const uint8_t>(image);
  std::array<bool, 256> found{};
  const int64_t values = int64_t{rows.height} * rows.width * rows.bytes;
  if (values >= 256) found.fill(true);
  for (int y = 0; y < rows.height && values < 256; ++y)
    for (int x = 0; x < rows.width * rows.bytes; ++x) found[rows.row(y)[x]] = true;
  return found;
}

/// As torchvision computes each level for Pillow images, in doubles.
nb::object gamma_anew(nb::handle memory, double gamma, double gain) {
  if (!(gamma >= 0 && gain >= 0 && gain <= 1))
    throw Error("gamma_anew: gamma is not negative, and gain 0 to 1.");
  return anew(memory, 0, 0, 0, [&](const Pixels& target, const Pixels& source) {
    const auto needed = levels_in(source);
    Lut lut{};
    for (int level = 0; level < 256; ++level) {
      if (!needed[level]) continue;
      const double value = (255 + 1 - 1e-3) * gain * std::pow(level / 255.0, gamma);
      for (auto& channel : lut.value) channel[level] = static_cast<uint8_t>(value);
    }
    look_up(target, source, lut);
  });
}

nb::object table_anew(nb::handle memory, const nb::bytes& levels) {
  return anew(memory, 0, 0, 0,
              [&](const Pixels& target, const Pixels& source) { table(target, source, levels); });
}

}  // namespace

void bind_one_image(nb::module_& m) {
  nb::class_<Pixels>(m, "Pixels", "Where the pixels of one image lie.")
      .def_static("of_pillow", &pixels_of_pillow, "array"_a, "height"_a, "width"_a, "channels"_a,
                  "Those of a Pillow image of mode L or RGB, by its Arrow array.")
      .def_static("at", &pixels_at, "address"_a, "height"_a, "width"_a, "channels"_a,
                  "interleaved"_a, "element"_a, "owner"_a, "row_stride"_a = 0, "plane_stride"_a = 0,
                  "Those of an array of gray or RGB pixels, which `owner` keeps alive. Strides are "
                  "in bytes; 0 stands for rows and planes without gaps between them.");
  m.def("copy_one", &copy, "target"_a, "source"_a, "top"_a, "left"_a, "flip_horizontal"_a,
        "flip_vertical"_a, "format"_a.none() = nb::none(),
        "Copy the part of an image that begins at (top, left) and has the target's size.");
  m.def("resize_like_torch", &resize_like_torch, "target"_a, "source"_a, "filter"_a, "antialias"_a,
        "Resize an image of bytes to the target's size, with the weights that torch has for them.");
  m.def("effect_one", &effect, "target"_a, "source"_a, "effect"_a, "numbers"_a,
        "Apply one effect, with its numbers in the order of cpp/base/effects.def.");
  constexpr const char* kAnew =
      " `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None "
      "for images that are neither gray nor RGB.";
  const auto doc = [&](const char* what) { return std::string(what) + kAnew; };
  m.def("effect_anew", &effect_anew, "memory"_a, "effect"_a, "numbers"_a, "height"_a = 0,
        "width"_a = 0, "channels"_a = 0, doc("Apply one effect.").c_str());
  m.def("copy_anew", &copy_anew, "memory"_a, "top"_a, "left"_a, "height"_a, "width"_a,
        "flip_horizontal"_a, "flip_vertical"_a, doc("Copy a part.").c_str());
  m.def("pad_anew", &pad_anew, "memory"_a, "borders"_a, "mode"_a, "fill"_a,
        doc("Add borders: left, top, right, bottom.").c_str());
  m.def("resize_anew", &resize_anew, "memory"_a, "box"_a, "size"_a, "filter"_a, "vertical_first"_a,
        "part"_a = nb::none(),
        doc("Resize a box: (top, left, height, width); of it only a part (left, top, right, "
            "bottom), if there is one.")
            .c_str());
  m.def("to_array", &to_array, "memory"_a,
        "Copy the pixels of `memory`, the `im` of a Pillow image or an array, to an array (height, "
        "width, channels); None for images that are neither gray nor RGB.");
  m.def("to_pillow", &to_pillow, "pixels"_a, "Copy pixels to the memory of a Pillow image.");
  m.def("array_to_pillow", &array_to_pillow, "array"_a,
        "The same for an array; None for what is neither gray nor RGB.");
  m.def("gamma_anew", &gamma_anew, "memory"_a, "gamma"_a, "gain"_a,
        doc("Each level to the power of gamma, times gain.").c_str());
  m.def("table_anew", &table_anew, "memory"_a, "levels"_a,
        doc("Give each level of each channel its new one.").c_str());
}

}  // namespace penstock
