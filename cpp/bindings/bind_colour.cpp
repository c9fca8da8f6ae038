// Effects on colour on one image, for tests and for whoever wants a single image done.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"
#include "bindings/bind.h"
#include "kernels/colour/mix.h"
#include "kernels/colour/pending_tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Pixels = nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, uint8_t>;
using DrawnEffect = std::pair<int, std::array<double, 3>>;

constexpr size_t kLargestSide = 1 << 24;

void require_image(const char* where, const Pixels& image) {
  if (image.shape(2) != 1 && image.shape(2) != 3)
    throw Error(std::string(where) + ": the image must have 1 or 3 channels, got " +
                std::to_string(image.shape(2)) + ". Convert it to gray or RGB first.");
  for (const size_t side : {image.shape(0), image.shape(1)})
    if (side < 1 || side > kLargestSide)
      throw Error(std::string(where) + ": the image's sides must be 1 to " +
                  std::to_string(kLargestSide) + " pixels, got " + std::to_string(side) + ".");
}

/// A planar image with room around its rows, made from an array or copied to one.
class WorkingImage {
 public:
  WorkingImage(int height, int width, int channels) {
    image.height = height;
    image.width = width;
    image.channels = channels;
    image.stride = width + kRowSlack;
    const size_t plane = static_cast<size_t>(image.stride) * height;
    uint8_t* first = memory_.reserve(3 * plane + 2 * kRowSlack) + kRowSlack;
    for (int c = 0; c < 3; ++c) image.plane[c] = first + c * plane;
  }

  explicit WorkingImage(const Pixels& pixels)
      : WorkingImage(static_cast<int>(pixels.shape(0)), static_cast<int>(pixels.shape(1)),
                     static_cast<int>(pixels.shape(2))) {
    const uint8_t* from = pixels.data();
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x)
        for (int c = 0; c < image.channels; ++c) image.row(c, y)[x] = *from++;
  }

  /// Height x width x 3. For a thread that does not hold the interpreter's lock.
  Array to_array() const {
    const size_t shape[3] = {static_cast<size_t>(image.height), static_cast<size_t>(image.width),
                             3};
    std::unique_ptr<uint8_t[]> pixels(new uint8_t[shape[0] * shape[1] * 3]);
    uint8_t* to = pixels.get();
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x)
        for (int c = 0; c < 3; ++c) *to++ = image.row(image.channels == 1 ? 0 : c, y)[x];
    nb::gil_scoped_acquire held;
    nb::capsule owner(pixels.get(), [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
    return Array(pixels.release(), 3, shape, owner);
  }

  PlanarTarget image;

 private:
  Buffer memory_;
};

Array colour_effects(const Pixels& pixels, const std::vector<DrawnEffect>& effects) {
  require_image("colour_effects", pixels);
  for (const auto& [effect, numbers] : effects)
    if (!is_colour_effect(effect))
      throw Error("colour_effects: " + std::to_string(effect) +
                  " is not the number of an effect on colour. Use penstock.transforms.effects.");
  nb::gil_scoped_release released;
  WorkingImage working(pixels);
  PendingTables tables;
  for (const auto& [effect, numbers] : effects)
    tables.add(working.image, static_cast<ColourEffect>(effect), numbers.data());
  tables.flush(working.image, working.image.view());
  return working.to_array();
}

Array mix_arrays(const std::vector<Pixels>& images, const std::vector<float>& weights) {
  if (images.empty() || images.size() != weights.size())
    throw Error("mix_images: there must be one weight for each image, got " +
                std::to_string(weights.size()) + " for " + std::to_string(images.size()) + ".");
  for (const Pixels& image : images) {
    require_image("mix_images", image);
    if (image.shape(0) != images[0].shape(0) || image.shape(1) != images[0].shape(1))
      throw Error("mix_images: all images must be of one size, got " +
                  std::to_string(image.shape(0)) + "x" + std::to_string(image.shape(1)) + " and " +
                  std::to_string(images[0].shape(0)) + "x" + std::to_string(images[0].shape(1)) +
                  ".");
  }
  nb::gil_scoped_release released;
  std::deque<WorkingImage> planes;
  std::vector<MixPart> parts;
  for (size_t i = 0; i < images.size(); ++i)
    parts.push_back({planes.emplace_back(images[i]).image.view(), weights[i]});
  const WorkingImage mixed(static_cast<int>(images[0].shape(0)),
                           static_cast<int>(images[0].shape(1)), mixed_channels(parts));
  mix_images(mixed.image, parts);
  return mixed.to_array();
}

}  // namespace

void bind_colour(nb::module_& m) {
  m.def("colour_effects", &colour_effects, "image"_a, "effects"_a,
        "Apply effects on colour to an HxWxC image, one after the other: pairs of a number of "
        "penstock.transforms.effects.Effect and its first three numbers. Gray becomes three "
        "channels.");
  m.def("mix_images", &mix_arrays, "images"_a, "weights"_a,
        "The weighted sum of HxWxC images of one size, as AugMix makes one. Gray becomes three "
        "channels.");
}

}  // namespace penstock
