// Warps of one image.
#include "kernels/warp/warp.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/for_tests/image_array.h"
#include "kernels/warp/elastic.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Planes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>>;
using Field = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Colour = std::array<uint8_t, 3>;

constexpr Colour kBlack{0, 0, 0};

Filter filter_numbered(const std::string& where, int number) {
  const Filter filter = static_cast<Filter>(number);
  if (filter != Filter::nearest && filter != Filter::bilinear && filter != Filter::bicubic)
    throw Error(where + ": filter must be 0 (nearest), 2 (bilinear) or 3 (bicubic), got " +
                std::to_string(number) + ".");
  return filter;
}

/// Channels x height x width.
Planes planes_of(const ImageArray& array) {
  const PlanarTarget& image = array.image;
  const size_t height = image.height, width = image.width, channels = image.channels;
  auto* planes = new uint8_t[channels * height * width];
  nb::capsule owner(planes, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  uint8_t* to = planes;
  for (int c = 0; c < image.channels; ++c)
    for (int y = 0; y < image.height; ++y) to = std::copy_n(image.row(c, y), width, to);
  return Planes(planes, {channels, height, width}, owner);
}

int channels_after(const ImageArray& array, const Colour& fill) {
  const bool gray_fill = fill[0] == fill[1] && fill[1] == fill[2];
  return array.image.channels == 1 && gray_fill ? 1 : 3;
}

/// warp_affine or warp_perspective, by the number of coefficients.
template <size_t kNumbers>
Planes warp(const std::string& where, const PixelArray& pixels,
            const std::array<double, kNumbers>& numbers, int out_height, int out_width,
            int filter_number, const Colour& fill) {
  const Filter filter = filter_numbered(where, filter_number);
  for (const int side : {out_height, out_width}) checked_side(where, static_cast<size_t>(side));
  const ImageArray in(where, pixels);
  const ImageArray out(out_height, out_width, channels_after(in, fill));
  {
    nb::gil_scoped_release released;
    double matrix[kNumbers];
    std::copy(numbers.begin(), numbers.end(), matrix);
    const uint8_t colour[3] = {fill[0], fill[1], fill[2]};
    WarpScratch scratch;
    const WarpFrame frame = whole_frame(out.image, in.image.view());
    if constexpr (kNumbers == 6)
      warp_affine(out.image, in.image.view(), frame, matrix, filter, colour, scratch);
    else
      warp_perspective(out.image, in.image.view(), frame, matrix, filter, colour, scratch);
  }
  return planes_of(out);
}

Planes displaced(const PixelArray& pixels, const Field& dx, const Field& dy, int filter_number,
                 const Colour& fill) {
  const std::string where = "warp_displaced";
  const Filter filter = filter_numbered(where, filter_number);
  const ImageArray in(where, pixels);
  for (const Field* field : {&dx, &dy})
    if (field->shape(0) != pixels.shape(0) || field->shape(1) != pixels.shape(1))
      throw Error(where + ": dx and dy must be as large as the image, " +
                  std::to_string(pixels.shape(0)) + "x" + std::to_string(pixels.shape(1)) +
                  ", got " + std::to_string(field->shape(0)) + "x" +
                  std::to_string(field->shape(1)) + ".");
  const ImageArray out(in.image.height, in.image.width, channels_after(in, fill));
  {
    nb::gil_scoped_release released;
    const uint8_t colour[3] = {fill[0], fill[1], fill[2]};
    WarpScratch scratch;
    warp_displaced(out.image, in.image.view(), dx.data(), dy.data(), filter, colour, scratch);
  }
  return planes_of(out);
}

template <size_t kNumbers>
void bind_matrix_warp(nb::module_& m, const char* name, const char* doc) {
  m.def(
      name,
      [name](const PixelArray& image, const std::array<double, kNumbers>& matrix, int out_height,
             int out_width, int filter, const Colour& fill) {
        return warp(name, image, matrix, out_height, out_width, filter, fill);
      },
      "image"_a, "matrix"_a, "out_height"_a, "out_width"_a, "filter"_a, "fill"_a = kBlack, doc);
}

}  // namespace

void bind_warp(nb::module_& m) {
  bind_matrix_warp<6>(m, "warp_affine",
                      "Warp an HxWxC image as Pillow's Image.transform does with AFFINE; returns "
                      "planes, one if image and fill are gray.");
  bind_matrix_warp<8>(m, "warp_perspective",
                      "Warp an HxWxC image as Pillow's Image.transform does with PERSPECTIVE; "
                      "returns planes.");
  m.def("warp_displaced", &displaced, "image"_a, "dx"_a, "dy"_a, "filter"_a, "fill"_a = kBlack,
        "What lies at (x + dx, y + dy), sampled as torchvision's elastic does; returns planes.");
}

}  // namespace penstock
