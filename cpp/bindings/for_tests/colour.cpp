// Effects on colour on one image, and mixes of images.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bindings/bind.h"
#include "bindings/for_tests/image_array.h"
#include "kernels/colour/mix.h"
#include "kernels/colour/pending_tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Array = nb::ndarray<nb::numpy, uint8_t>;
using DrawnEffect = std::pair<int, std::array<double, 3>>;

/// A gray result stands for three equal channels.
Array coloured(const ImageArray& result) {
  if (result.image.channels == 3) return result.to_array();
  const ImageArray wide(result.image.height, result.image.width, 3);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < wide.image.height; ++y)
      std::copy_n(result.image.row(0, y), wide.image.width, wide.image.row(c, y));
  return wide.to_array();
}

Array colour_effects(const PixelArray& pixels, const std::vector<DrawnEffect>& effects) {
  for (const auto& [effect, numbers] : effects)
    if (!is_colour_effect(static_cast<EffectKind>(effect)))
      throw Error("colour_effects: " + std::to_string(effect) +
                  " is not the number of an effect on colour. Use penstock.transforms.effects.");
  ImageArray working("colour_effects", pixels);
  PendingTables tables;
  for (const auto& [effect, numbers] : effects)
    tables.add(working.image, static_cast<EffectKind>(effect), numbers.data());
  tables.flush(working.image, working.image.view());
  return coloured(working);
}

Array mix_arrays(const std::vector<PixelArray>& images, const std::vector<float>& weights) {
  if (images.empty() || images.size() != weights.size())
    throw Error("mix_images: there must be one weight for each image, got " +
                std::to_string(weights.size()) + " for " + std::to_string(images.size()) + ".");
  for (const PixelArray& image : images)
    if (image.shape(0) != images[0].shape(0) || image.shape(1) != images[0].shape(1))
      throw Error("mix_images: all images must be of one size, got " +
                  std::to_string(image.shape(0)) + "x" + std::to_string(image.shape(1)) + " and " +
                  std::to_string(images[0].shape(0)) + "x" + std::to_string(images[0].shape(1)) +
                  ".");
  std::deque<ImageArray> planes;
  std::vector<MixPart> parts;
  for (size_t i = 0; i < images.size(); ++i)
    parts.push_back({planes.emplace_back("mix_images", images[i]).image.view(), weights[i]});
  const ImageArray mixed(static_cast<int>(images[0].shape(0)), static_cast<int>(images[0].shape(1)),
                         mixed_channels(parts));
  mix_images(mixed.image, parts);
  return coloured(mixed);
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
