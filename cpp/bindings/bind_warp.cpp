// The warps one by one, for tests and for whoever wants a single image done.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "bindings/bind.h"
#include "kernels/warp/elastic.h"
#include "kernels/warp/warp.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Pixels = nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Planes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>>;
using Field = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FieldPair = nb::ndarray<nb::numpy, float, nb::ndim<3>>;
using Colour = std::array<uint8_t, 3>;

// Where in-between values stay far from the limits of int.
constexpr int kLargestSide = 1 << 24;

void require_side(const std::string& where, size_t side) {
  if (side < 1 || side > kLargestSide)
    throw Error(where + ": sides must be 1 to " + std::to_string(kLargestSide) + " pixels, got " +
                std::to_string(static_cast<ptrdiff_t>(side)) + ".");
}

Filter filter_numbered(const std::string& where, int number) {
  const Filter filter = static_cast<Filter>(number);
  if (filter != Filter::nearest && filter != Filter::bilinear && filter != Filter::bicubic)
    throw Error(where + ": filter must be 0 (nearest), 2 (bilinear) or 3 (bicubic), got " +
                std::to_string(number) + ".");
  return filter;
}

/// A planar image that owns its memory, with the slack that kernels expect around rows.
class PlanarImage {
 public:
  PlanarImage(int height, int width, int channels) {
    target_.stride = ptrdiff_t{width} + kRowSlack;
    target_.height = height;
    target_.width = width;
    target_.channels = channels;
    const ptrdiff_t plane = target_.stride * height;
    memory_.reset(new uint8_t[channels * plane]);
    for (int c = 0; c < channels; ++c) target_.plane[c] = memory_.get() + c * plane;
  }

  PlanarImage(const std::string& where, const Pixels& image)
      : PlanarImage(checked(where, image.shape(0)), checked(where, image.shape(1)),
                    channels_of(where, image)) {
    const uint8_t* pixel = image.data();
    for (int y = 0; y < target_.height; ++y)
      for (int x = 0; x < target_.width; ++x)
        for (int c = 0; c < target_.channels; ++c) target_.row(c, y)[x] = *pixel++;
  }

  const PlanarTarget& target() const { return target_; }

  Planes to_array() const {
    const size_t height = target_.height, width = target_.width, channels = target_.channels;
    auto* planes = new uint8_t[channels * height * width];
    nb::capsule owner(planes, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
    uint8_t* to = planes;
    for (int c = 0; c < target_.channels; ++c)
      for (int y = 0; y < target_.height; ++y) to = std::copy_n(target_.row(c, y), width, to);
    return Planes(planes, {channels, height, width}, owner);
  }

 private:
  static int checked(const std::string& where, size_t side) {
    require_side(where, side);
    return static_cast<int>(side);
  }

  static int channels_of(const std::string& where, const Pixels& image) {
    const size_t channels = image.shape(2);
    if (channels != 1 && channels != 3)
      throw Error(where + ": the image must have 1 or 3 channels, got " + std::to_string(channels) +
                  ". Convert it to gray or RGB first.");
    return static_cast<int>(channels);
  }

  PlanarTarget target_;
  std::unique_ptr<uint8_t[]> memory_;
};

int channels_after(const PlanarImage& image, const Colour& fill) {
  const bool gray_fill = fill[0] == fill[1] && fill[1] == fill[2];
  return image.target().channels == 1 && gray_fill ? 1 : 3;
}

/// warp_affine or warp_perspective, by the number of coefficients.
template <size_t kNumbers>
Planes warp(const std::string& where, const Pixels& pixels,
            const std::array<double, kNumbers>& numbers, int out_height, int out_width,
            int filter_number, const Colour& fill) {
  const Filter filter = filter_numbered(where, filter_number);
  for (const int side : {out_height, out_width}) require_side(where, static_cast<size_t>(side));
  const PlanarImage in(where, pixels);
  const PlanarImage out(out_height, out_width, channels_after(in, fill));
  {
    nb::gil_scoped_release released;
    double matrix[kNumbers];
    std::copy(numbers.begin(), numbers.end(), matrix);
    const uint8_t colour[3] = {fill[0], fill[1], fill[2]};
    WarpScratch scratch;
    if constexpr (kNumbers == 6)
      warp_affine(out.target(), in.target().view(), matrix, filter, colour, scratch);
    else
      warp_perspective(out.target(), in.target().view(), matrix, filter, colour, scratch);
  }
  return out.to_array();
}

Planes displaced(const Pixels& pixels, const Field& dx, const Field& dy, int filter_number,
                 const Colour& fill) {
  const std::string where = "warp_displaced";
  const Filter filter = filter_numbered(where, filter_number);
  const PlanarImage in(where, pixels);
  for (const Field* field : {&dx, &dy})
    if (field->shape(0) != pixels.shape(0) || field->shape(1) != pixels.shape(1))
      throw Error(where + ": dx and dy must be as large as the image, " +
                  std::to_string(pixels.shape(0)) + "x" + std::to_string(pixels.shape(1)) +
                  ", got " + std::to_string(field->shape(0)) + "x" +
                  std::to_string(field->shape(1)) + ".");
  const PlanarImage out(in.target().height, in.target().width, channels_after(in, fill));
  {
    nb::gil_scoped_release released;
    const uint8_t colour[3] = {fill[0], fill[1], fill[2]};
    WarpScratch scratch;
    warp_displaced(out.target(), in.target().view(), dx.data(), dy.data(), filter, colour, scratch);
  }
  return out.to_array();
}

FieldPair field(int height, int width, const std::array<double, 2>& alpha,
                const std::array<double, 2>& sigma, const std::array<uint32_t, 2>& key) {
  for (const int side : {height, width}) require_side("elastic_field", static_cast<size_t>(side));
  for (const double value : sigma)
    if (!(value >= 0 && value <= kLargestSigma))
      throw Error("elastic_field: sigma must be 0 to " + std::to_string(kLargestSigma) + ", got " +
                  std::to_string(value) + ".");
  const size_t pixels = static_cast<size_t>(height) * width;
  auto* planes = new float[2 * pixels];
  nb::capsule owner(planes, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  {
    nb::gil_scoped_release released;
    Buffer scratch;
    elastic_field(planes, planes + pixels, height, width, {alpha[0], alpha[1], sigma[0], sigma[1]},
                  {key[0], key[1]}, scratch);
  }
  return FieldPair(planes, {2, static_cast<size_t>(height), static_cast<size_t>(width)}, owner);
}

}  // namespace

void bind_warp(nb::module_& m) {
  constexpr Colour kBlack{0, 0, 0};
  m.def(
      "warp_affine",
      [](const Pixels& image, const std::array<double, 6>& matrix, int out_height, int out_width,
         int filter, const Colour& fill) {
        return warp("warp_affine", image, matrix, out_height, out_width, filter, fill);
      },
      "image"_a, "matrix"_a, "out_height"_a, "out_width"_a, "filter"_a, "fill"_a = kBlack,
      "Warp an HxWxC image as Pillow's Image.transform does with AFFINE; returns planes, one if "
      "image and fill are gray.");
  m.def(
      "warp_perspective",
      [](const Pixels& image, const std::array<double, 8>& matrix, int out_height, int out_width,
         int filter, const Colour& fill) {
        return warp("warp_perspective", image, matrix, out_height, out_width, filter, fill);
      },
      "image"_a, "matrix"_a, "out_height"_a, "out_width"_a, "filter"_a, "fill"_a = kBlack,
      "Warp an HxWxC image as Pillow's Image.transform does with PERSPECTIVE; returns planes.");
  m.def("warp_displaced", &displaced, "image"_a, "dx"_a, "dy"_a, "filter"_a, "fill"_a = kBlack,
        "What lies at (x + dx, y + dy), sampled as torchvision's elastic does; returns planes.");
  m.def("elastic_field", &field, "height"_a, "width"_a, "alpha"_a, "sigma"_a, "key"_a,
        "The displacement (dx, dy) in pixels of an elastic transform; alpha and sigma are "
        "(across, down).");
}

}  // namespace penstock
