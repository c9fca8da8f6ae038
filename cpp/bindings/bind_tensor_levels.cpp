// Bytes of the user's tensors, and values that only change places, in the calling thread.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/tensor_memory.h"
#include "kernels/elements.h"
#include "kernels/look_up.h"
#include "kernels/tensor/levels.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

bool map(size_t target, size_t source, size_t count, ValueMap kind, float a, float b, float c) {
  uint8_t* to = memory_at<uint8_t>(target);
  const uint8_t* from = memory_at<const uint8_t>(source);
  nb::gil_scoped_release released;
  if (kind == ValueMap::blend && !is_blend_sure({a, b, c})) return false;
  look_up_levels(to, from, count, level_table(kind, {a, b, c}));
  return true;
}

void curve(size_t target, size_t source, size_t count, size_t levels, float gain) {
  uint8_t* to = memory_at<uint8_t>(target);
  const uint8_t* from = memory_at<const uint8_t>(source);
  const float* values = memory_at<const float>(levels);
  nb::gil_scoped_release released;
  look_up_levels(to, from, count, curve_table(values, gain));
}

bool curve_floats(size_t target, size_t source, size_t count, size_t fractions, size_t values) {
  float* to = memory_at<float>(target);
  const float* from = memory_at<const float>(source);
  const float* known = memory_at<const float>(fractions);
  const float* become = memory_at<const float>(values);
  nb::gil_scoped_release released;
  return look_up_fractions(to, from, count, FractionCurve(known, become));
}

void look_up(size_t target, size_t levels, size_t pixels, size_t table, int channels, int bytes,
             bool interleaved) {
  if ((channels != 1 && channels != 3) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
    throw Error("Tensor values: a table has 1 or 3 channels of values of 1, 2, 4 or 8 bytes, got " +
                std::to_string(channels) + " of " + std::to_string(bytes) + ".");
  void* to = memory_at<void>(target);
  const uint8_t* from = memory_at<const uint8_t>(levels);
  const ValueTable values{memory_at<const void>(table), channels, bytes};
  nb::gil_scoped_release released;
  look_up_values(to, from, pixels, values, interleaved);
}

void stretch(size_t target, size_t source, size_t planes, size_t count) {
  if (count == 0) throw Error("Tensor values: an empty plane has no range to be stretched.");
  uint8_t* to = memory_at<uint8_t>(target);
  const uint8_t* from = memory_at<const uint8_t>(source);
  nb::gil_scoped_release released;
  for (size_t plane = 0; plane < planes; ++plane, to += count, from += count) {
    uint8_t least, most;
    find_extremes(least, most, from, count);
    look_up_levels(to, from, count, stretch_table(least, most));
  }
}

bool contrast(size_t target, size_t source, size_t pixels, int channels, bool interleaved,
              float ratio, float rest) {
  if (pixels == 0 || pixels > kMostMeanPixels) return false;
  if (channels != 1 && channels != 3)
    throw Error("Tensor values: an image has 1 or 3 channels, got " + std::to_string(channels) +
                ".");
  uint8_t* to = memory_at<uint8_t>(target);
  const uint8_t* from = memory_at<const uint8_t>(source);
  nb::gil_scoped_release released;
  const float mean =
      channels == 1 ? mean_level(from, pixels)
                    : mean_gray(colours_at<const uint8_t>(source, pixels, interleaved), pixels);
  const MapNumbers numbers{ratio, mean, rest};
  if (!is_blend_sure(numbers)) return false;
  look_up_levels(to, from, pixels * channels, level_table(ValueMap::blend, numbers));
  return true;
}

void pad_planes(size_t target, size_t source, size_t planes, std::pair<int, int> size, int bytes,
                const std::array<int, 4>& borders, PadMode mode, const nb::bytes& fill) {
  const auto [height, width] = size;
  const auto [left, top, right, bottom] = borders;
  for (const int side : {height, width, left + 1, top + 1, right + 1, bottom + 1})
    if (side < 1 || side > kLargestSide)
      throw Error("Tensor values: sides are 1 to " + std::to_string(kLargestSide) +
                  ", and borders not negative, got " + std::to_string(side) + ".");
  if (bytes < 1 || fill.size() != static_cast<size_t>(bytes))
    throw Error("Tensor values: a border is filled with one value, of " + std::to_string(bytes) +
                " bytes here.");
  const auto* element = reinterpret_cast<const uint8_t*>(fill.c_str());
  const int out_height = top + height + bottom, out_width = left + width + right;
  ElementTarget to{memory_at<uint8_t>(target), ptrdiff_t{out_width} * bytes, out_height, out_width,
                   bytes};
  ElementSource from{memory_at<const uint8_t>(source), ptrdiff_t{width} * bytes, height, width,
                     bytes};
  nb::gil_scoped_release released;
  for (size_t plane = 0; plane < planes; ++plane) {
    pad_elements(to, from, top, left, mode, element);
    to.data += out_height * to.stride;
    from.data += height * from.stride;
  }
}

void permute(size_t target, size_t source, size_t images, size_t plane_bytes,
             const std::vector<size_t>& order) {
  for (const size_t channel : order)
    if (channel >= order.size())
      throw Error("Tensor values: there is no channel " + std::to_string(channel) + " among " +
                  std::to_string(order.size()) + ".");
  uint8_t* to = memory_at<uint8_t>(target);
  const uint8_t* from = memory_at<const uint8_t>(source);
  nb::gil_scoped_release released;
  for (size_t image = 0; image < images; ++image, from += order.size() * plane_bytes)
    for (const size_t channel : order) {
      std::memcpy(to, from + channel * plane_bytes, plane_bytes);
      to += plane_bytes;
    }
}

}  // namespace

void bind_tensor_levels(nb::module_& m) {
  m.def("map_levels", &map, "target"_a, "source"_a, "count"_a, "map"_a, "a"_a = 0.0f, "b"_a = 0.0f,
        "c"_a = 0.0f, "Change `count` bytes, each by itself; False if torch may differ in some.");
  m.def("curve_levels", &curve, "target"_a, "source"_a, "count"_a, "curve"_a, "gain"_a,
        "Give each level the fraction of white that 256 floats say, times gain.");
  m.def("curve_floats", &curve_floats, "target"_a, "source"_a, "count"_a, "fractions"_a, "values"_a,
        "Replace floats that are among the fractions, two times 256, by their values; False if "
        "one of them is not.");
  m.def("look_up_values", &look_up, "target"_a, "levels"_a, "pixels"_a, "table"_a, "channels"_a,
        "bytes"_a, "interleaved"_a,
        "Write the values that a table of 256 levels for each channel has for the levels of an "
        "image.");
  m.def("stretch_levels", &stretch, "target"_a, "source"_a, "planes"_a, "count"_a,
        "Stretch each plane of `count` bytes to 0 and 255.");
  m.def("contrast_levels", &contrast, "target"_a, "source"_a, "pixels"_a, "channels"_a,
        "interleaved"_a, "ratio"_a, "rest"_a,
        "Mix an image with the mean of its gray; False if torch may differ in some byte.");
  m.def("pad_values", &pad_planes, "target"_a, "source"_a, "planes"_a, "size"_a, "bytes"_a,
        "borders"_a, "mode"_a, "fill"_a,
        "Add borders (left, top, right, bottom) to planes of (height, width) values; `fill` has "
        "the bytes of one value.");
  m.def("permute_values", &permute, "target"_a, "source"_a, "images"_a, "plane_bytes"_a, "order"_a,
        "Put the planes of each image into another order.");
}

}  // namespace penstock
