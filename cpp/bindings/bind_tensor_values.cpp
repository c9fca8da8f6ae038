// Values of the user's tensors, changed in the calling thread.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/tensor_memory.h"
#include "kernels/output.h"
#include "kernels/tensor/convolve.h"
#include "kernels/tensor/resize.h"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/values.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

/// Beyond this a thread does not keep the memory of its last image.
constexpr int64_t kMostKeptPixels = int64_t{4} << 20;

[[noreturn]] void refuse_element() {
  throw Error("Tensor values: only uint8 and float32 are known here.");
}

/// Calls `body` with a value of the element's type, without Python's lock.
template <class Body>
void with_type(Element element, Body body) {
  if (element != Element::uint8 && element != Element::float32) refuse_element();
  nb::gil_scoped_release released;
  if (element == Element::uint8)
    body(uint8_t{});
  else
    body(float{});
}

bool map(size_t target, size_t source, size_t count, ValueMap kind, float a, float b, float c) {
  float* to = memory_at<float>(target);
  const float* from = memory_at<const float>(source);
  nb::gil_scoped_release released;
  PENSTOCK_PICK(map_values)(to, from, count, kind, {a, b, c});
  return true;
}

void normalize(size_t target, size_t source, size_t images, size_t count,
               const std::vector<float>& means, const std::vector<float>& stds) {
  if (means.size() != stds.size())
    throw Error("Tensor values: there are " + std::to_string(means.size()) + " means and " +
                std::to_string(stds.size()) + " deviations.");
  float* to = memory_at<float>(target);
  const float* from = memory_at<const float>(source);
  nb::gil_scoped_release released;
  for (size_t image = 0; image < images; ++image)
    for (size_t c = 0; c < means.size(); ++c, to += count, from += count) PENSTOCK_PICK(map_values)
  (to, from, count, ValueMap::normalize, {means[c], stds[c], 0});
}

void gray(size_t target, Element written, size_t source, Element element, size_t pixels,
          bool interleaved) {
  if (written == Element::uint8) {
    if (element != Element::uint8) refuse_element();
    const auto colours = colours_at<const uint8_t>(source, pixels, interleaved);
    uint8_t* to = memory_at<uint8_t>(target);
    nb::gil_scoped_release released;
    PENSTOCK_PICK(gray_levels)(to, colours, pixels);
    return;
  }
  float* to = memory_at<float>(target);
  with_type(element, [&](auto kind) {
    const auto colours = colours_at<const decltype(kind)>(source, pixels, interleaved);
    if constexpr (std::is_same_v<decltype(kind), float>)
      PENSTOCK_PICK(gray_of_floats)(to, colours, pixels);
    else
      PENSTOCK_PICK(gray_of_levels)(to, colours, pixels);
  });
}

void saturate(size_t target, size_t source, Element element, size_t pixels, bool interleaved,
              float factor, float rest) {
  with_type(element, [&](auto kind) {
    using T = decltype(kind);
    const auto to = colours_at<T>(target, pixels, interleaved);
    const auto from = colours_at<const T>(source, pixels, interleaved);
    if constexpr (std::is_same_v<T, float>)
      PENSTOCK_PICK(saturate_floats)(to, from, pixels, factor, rest);
    else
      PENSTOCK_PICK(saturate_levels)(to, from, pixels, factor, rest);
  });
}

void turn_hue(size_t target, size_t source, Element element, size_t pixels, bool interleaved,
              float turn) {
  with_type(element, [&](auto kind) {
    using T = decltype(kind);
    const auto to = colours_at<T>(target, pixels, false);
    const auto from = colours_at<const T>(source, pixels, interleaved);
    if constexpr (std::is_same_v<T, float>)
      PENSTOCK_PICK(turn_hue_of_floats)(to, from, pixels, turn);
    else
      PENSTOCK_PICK(turn_hue_of_levels)(to, from, pixels, turn);
  });
}

bool stretch(size_t target, size_t source, size_t planes, size_t count) {
  float* to = memory_at<float>(target);
  const float* from = memory_at<const float>(source);
  if (count == 0) throw Error("Tensor values: an empty plane has no range to be stretched.");
  nb::gil_scoped_release released;
  for (size_t plane = 0; plane < planes; ++plane)
    if (!PENSTOCK_PICK(stretch_plane)(to + plane * count, from + plane * count, count))
      return false;
  return true;
}

void convolve(size_t target, size_t source, size_t planes, int height, int width, size_t weights,
              int kernel_height, int kernel_width) {
  if (kernel_height < 1 || kernel_width < 1 || height < kernel_height || width < kernel_width)
    throw Error("Tensor values: a kernel of " + std::to_string(kernel_height) + "x" +
                std::to_string(kernel_width) + " does not fit into " + std::to_string(height) +
                "x" + std::to_string(width) + ".");
  float* to = memory_at<float>(target);
  const float* from = memory_at<const float>(source);
  const ConvolutionKernel kernel{memory_at<const float>(weights), kernel_height, kernel_width};
  const size_t in = static_cast<size_t>(height) * width;
  const size_t out = static_cast<size_t>(height - kernel_height + 1) * (width - kernel_width + 1);
  nb::gil_scoped_release released;
  for (size_t plane = 0; plane < planes; ++plane)
    PENSTOCK_PICK(convolve_plane)(to + plane * out, from + plane * in, height, width, kernel);
}

void resize(size_t target, size_t source, int channels, const std::array<ptrdiff_t, 3>& strides,
            std::pair<int, int> in_size, std::pair<int, int> out_size, int filter) {
  for (const int side : {in_size.first, in_size.second, out_size.first, out_size.second})
    if (side < 1 || side > kLargestSide)
      throw Error("Tensor values: sides of a resize are 1 to " + std::to_string(kLargestSide) +
                  ", got " + std::to_string(side) + ".");
  const auto kind = static_cast<Filter>(filter);
  if (kind != Filter::bilinear && kind != Filter::bicubic)
    throw Error("Tensor values: floats are resized by bilinear and bicubic filters.");
  float* to = memory_at<float>(target);
  const float* from = memory_at<const float>(source);
  const auto run = [&](FloatResizeScratch& scratch) {
    const FloatResize resized(in_size.first, in_size.second, out_size.first, out_size.second, kind,
                              scratch);
    const ptrdiff_t plane = static_cast<ptrdiff_t>(out_size.first) * out_size.second;
    for (int c = 0; c < channels; ++c)
      resized.run(to + c * plane,
                  {from + c * strides[0], in_size.first, in_size.second, strides[1], strides[2]});
  };
  nb::gil_scoped_release released;
  if (int64_t{in_size.first} * std::max(in_size.second, out_size.second) > kMostKeptPixels) {
    FloatResizeScratch own;
    run(own);
  } else {
    thread_local FloatResizeScratch kept;
    run(kept);
  }
}

constexpr int kLargestSampled = 1 << 14;

void require_sampled_side(int side) {
  if (side < 1 || side > kLargestSampled)
    throw Error("Tensor values: sides of a grid are 1 to " + std::to_string(kLargestSampled) +
                ", got " + std::to_string(side) + ".");
}

using Three = std::array<double, 3>;

void divide(float row[3], const Three& numbers, int side) {
  const auto half = static_cast<float>(0.5 * side);
  for (int i = 0; i < 3; ++i) row[i] = static_cast<float>(numbers[i]) / half;
}

/// The grid that torchvision makes of these numbers.
SampleGrid grid_of(std::pair<int, int> in, std::pair<int, int> out, const Three& across,
                   const Three& down, const std::optional<Three>& depth, bool fused) {
  for (const int side : {in.first, in.second, out.first, out.second}) require_sampled_side(side);
  SampleGrid grid;
  std::tie(grid.in_height, grid.in_width) = in;
  std::tie(grid.out_height, grid.out_width) = out;
  grid.is_perspective = depth.has_value();
  grid.first_x = depth ? 0.5f : static_cast<float>(1 - grid.out_width) * 0.5f;
  grid.first_y = depth ? 0.5f : static_cast<float>(1 - grid.out_height) * 0.5f;
  divide(grid.across, across, grid.in_width);
  divide(grid.down, down, grid.in_height);
  for (int i = 0; depth && i < 3; ++i) grid.depth[i] = static_cast<float>((*depth)[i]);
  grid.fused = fused;
  return grid;
}

SampleFill fill_of(const std::optional<Three>& colour, Element element) {
  SampleFill fill;
  fill.has_fill = colour.has_value();
  for (int c = 0; colour && c < 3; ++c) {
    fill.colour[c] = static_cast<float>((*colour)[c]);
    if (element == Element::uint8 && !(fill.colour[c] >= 0 && fill.colour[c] <= 255))
      throw Error("Tensor values: bytes are filled with 0 to 255.");
  }
  return fill;
}

void sample(size_t target, size_t source, Element element, int channels,
            const std::array<ptrdiff_t, 3>& strides, std::pair<int, int> in_size,
            std::pair<int, int> out_size, const Three& across, const Three& down,
            const std::optional<Three>& depth, bool fused, bool bilinear,
            const std::optional<Three>& colour) {
  if (channels != 1 && channels != 3)
    throw Error("Tensor values: a sampled image has 1 or 3 channels, got " +
                std::to_string(channels) + ".");
  const SampleGrid grid = grid_of(in_size, out_size, across, down, depth, fused);
  const SampleFill fill = fill_of(colour, element);
  with_type(element, [&](auto kind) {
    using T = decltype(kind);
    T* to = memory_at<T>(target);
    const SampleSource<T> from{memory_at<const T>(source), channels, strides[0], strides[1],
                               strides[2]};
    if (int64_t{grid.in_height} * grid.in_width > kMostKeptPixels) {
      SampleScratch own;
      sample_grid(to, from, grid, bilinear, fill, own);
    } else {
      thread_local SampleScratch kept;
      sample_grid(to, from, grid, bilinear, fill, kept);
    }
  });
}

}  // namespace

void bind_tensor_values(nb::module_& m) {
  nb::enum_<ValueMap>(m, "ValueMap", "What is done to each float by itself.")
      .value("SCALE", ValueMap::scale)
      .value("BLEND", ValueMap::blend)
      .value("SOLARIZE", ValueMap::solarize)
      .value("POSTERIZE", ValueMap::posterize)
      .value("NORMALIZE", ValueMap::normalize);
  m.def("map_floats", &map, "target"_a, "source"_a, "count"_a, "map"_a, "a"_a = 0.0f, "b"_a = 0.0f,
        "c"_a = 0.0f, "Change `count` floats, each by itself; True, as it can be done.");
  m.def("normalize_values", &normalize, "target"_a, "source"_a, "images"_a, "count"_a, "means"_a,
        "stds"_a, "Normalize the channels of each image, planes of `count` floats.");
  m.def("gray_values", &gray, "target"_a, "written"_a, "source"_a, "element"_a, "pixels"_a,
        "interleaved"_a, "Write the gray of each pixel; that of bytes is whole.");
  m.def("saturate_values", &saturate, "target"_a, "source"_a, "element"_a, "pixels"_a,
        "interleaved"_a, "factor"_a, "rest"_a, "Mix each pixel with its gray.");
  m.def("turn_hue_values", &turn_hue, "target"_a, "source"_a, "element"_a, "pixels"_a,
        "interleaved"_a, "turn"_a, "Turn all colours by a part of the circle; planes are written.");
  m.def("sample_values", &sample, "target"_a, "source"_a, "element"_a, "channels"_a, "strides"_a,
        "in_size"_a, "out_size"_a, "across"_a, "down"_a, "depth"_a.none(), "fused"_a, "bilinear"_a,
        "fill"_a.none(),
        "Look an image up at the places that three numbers a side lead to; `depth` is for "
        "perspective. Strides are those of channels, rows and pixels, in elements.");
  m.def("convolve_values", &convolve, "target"_a, "source"_a, "planes"_a, "height"_a, "width"_a,
        "weights"_a, "kernel_height"_a, "kernel_width"_a,
        "Sum up each plane of floats under a kernel, which stays within it.");
  m.def("resize_values", &resize, "target"_a, "source"_a, "channels"_a, "strides"_a, "in_size"_a,
        "out_size"_a, "filter"_a,
        "Resize planes of floats with antialiasing. Strides are those of channels, rows and "
        "pixels, in elements.");
  m.def("stretch_values", &stretch, "target"_a, "source"_a, "planes"_a, "count"_a,
        "Stretch each plane of `count` floats to 0 and 1; False if one of them is not a number.");
}

}  // namespace penstock
