// Filters, noise and erasing on one image.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/for_tests/image_array.h"
#include "kernels/filter/blur.h"
#include "kernels/filter/box_blur.h"
#include "kernels/filter/erase.h"
#include "kernels/filter/noise.h"
#include "kernels/filter/sharpen.h"
#include "kernels/random/numbers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Array = nb::ndarray<nb::numpy>;
using Key = std::array<uint32_t, 2>;

constexpr int kLargestKernel = 1 << 12;

template <class T>
Array array_of(std::unique_ptr<T[]> memory, std::initializer_list<size_t> shape) {
  T* data = memory.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Array(data, shape.size(), shape.begin(), owner, nullptr, nb::dtype<T>());
}

void require_finite(const char* where, const char* what, float value) {
  if (!std::isfinite(value))
    throw Error(std::string(where) + ": " + what + " must be a finite number, got " +
                std::to_string(value) + ".");
}

Array sharpen_image(const PixelArray& pixels, float factor) {
  require_finite("sharpen", "factor", factor);
  const ImageArray in("sharpen", pixels);
  const ImageArray out(in.image.height, in.image.width, in.image.channels);
  sharpen(out.image, in.image.view(), factor);
  return Array(out.to_array());
}

Array blur_image(const PixelArray& pixels, const std::array<int, 2>& kernel_size,
                 const std::array<float, 2>& sigma, const std::vector<float>& weights) {
  for (const int size : kernel_size)
    if (size < 1 || size > kLargestKernel || size % 2 == 0)
      throw Error("gaussian_blur: kernel sizes must be odd, 1 to " +
                  std::to_string(kLargestKernel) + ", got " + std::to_string(size) + ".");
  for (const float one : sigma)
    if (!(one > 0) || !std::isfinite(one))
      throw Error("gaussian_blur: sigma must be above 0, got " + std::to_string(one) + ".");
  const ImageArray in("gaussian_blur", pixels);
  BlurSpec spec{kernel_size[0], kernel_size[1], sigma[0], sigma[1]};
  if (weights.size() <= kMostGivenWeights) std::copy(weights.begin(), weights.end(), spec.weights);
  if (weights.size() > kMostGivenWeights || !weights_fit(spec))
    throw Error("gaussian_blur: " + std::to_string(weights.size()) +
                " weights do not fit a kernel of " + std::to_string(kernel_size[1]) + "x" +
                std::to_string(kernel_size[0]) + ": there is room for " +
                std::to_string(kMostGivenWeights) + ", which must add up to 1.");
  if (!blur_fits(spec, in.image.height, in.image.width))
    throw Error("gaussian_blur: a kernel of " + std::to_string(kernel_size[1]) + "x" +
                std::to_string(kernel_size[0]) + " reaches over the whole image of " +
                std::to_string(in.image.height) + "x" + std::to_string(in.image.width) +
                ". Use a smaller kernel, or resize first.");
  const ImageArray out(in.image.height, in.image.width, in.image.channels);
  BlurScratch scratch;
  gaussian_blur(out.image, in.image.view(), spec, scratch);
  return Array(out.to_array());
}

Array box_blur_image(const PixelArray& pixels, const std::array<float, 2>& radius, int passes) {
  for (const float one : radius)
    if (!(one >= 0 && one < kLargestBoxRadius + 1))
      throw Error("box_blur: a radius must be at least 0 and below " +
                  std::to_string(kLargestBoxRadius + 1) + ", got " + std::to_string(one) + ".");
  if (passes < 1 || passes > kMostBoxPasses)
    throw Error("box_blur: passes must be 1 to " + std::to_string(kMostBoxPasses) + ", got " +
                std::to_string(passes) + ".");
  const ImageArray in("box_blur", pixels);
  const ImageArray out(in.image.height, in.image.width, in.image.channels);
  BoxBlurScratch scratch;
  box_blur(out.image, in.image.view(), {radius[0], radius[1], passes}, scratch);
  return Array(out.to_array());
}

Array add_noise(const PixelArray& pixels, float mean, float sigma, bool clip, const Key& key) {
  require_finite("add_gaussian_noise", "mean", mean);
  require_finite("add_gaussian_noise", "sigma", sigma);
  const ImageArray in("add_gaussian_noise", pixels);
  const ImageArray out(in.image.height, in.image.width, 3);
  add_gaussian_noise(out.image, in.image.view(), {mean, sigma, clip, {key[0], key[1]}});
  return Array(out.to_array());
}

Array normal_numbers(int64_t count, const Key& key) {
  if (count < 0)
    throw Error("normal_numbers: count must not be negative, got " + std::to_string(count) + ".");
  std::unique_ptr<float[]> numbers(new float[count]);
  NormalStream stream({key[0], key[1]});
  int taken = 0;
  for (int64_t done = 0; done < count; done += taken) {
    const float* next = stream.next(count - done, taken);
    std::copy_n(next, taken, numbers.get() + done);
  }
  return array_of(std::move(numbers), {static_cast<size_t>(count)});
}

Array erase_pixels(const PixelArray& pixels, const Box& box, const std::array<uint8_t, 3>& colour) {
  const ImageArray image("erase", pixels);
  erase(image.image, region_in("erase", box, image.image.height, image.image.width), colour.data());
  return Array(image.to_array());
}

Array erase_pixels_with_noise(const PixelArray& pixels, const Box& box, const Key& key) {
  const ImageArray image("erase_with_noise", pixels);
  erase_with_noise(image.image,
                   region_in("erase_with_noise", box, image.image.height, image.image.width),
                   {key[0], key[1]});
  return Array(image.to_array());
}

Output slot_of(const char* where, const Batch& batch, int64_t slot, const std::string& layout) {
  const BatchSlots slots = slots_of(where, batch, layout);
  if (slot < 0 || static_cast<size_t>(slot) >= batch.shape(0))
    throw Error(std::string(where) + ": slot must be below " + std::to_string(batch.shape(0)) +
                ", got " + std::to_string(slot) + ".");
  Output output = slots.first;
  output.data = static_cast<uint8_t*>(output.data) + slot * slots.slot_stride;
  return output;
}

void erase_slot(const Batch& batch, int64_t slot, const Box& box, const std::array<float, 3>& value,
                const std::string& layout) {
  const Output output = slot_of("erase_slot", batch, slot, layout);
  erase_output(output, region_in("erase_slot", box, output.height, output.width), value.data());
}

void erase_slot_with_noise(const Batch& batch, int64_t slot, const Box& box, const Key& key,
                           const std::string& layout) {
  const Output output = slot_of("erase_slot_with_noise", batch, slot, layout);
  erase_output_with_noise(output,
                          region_in("erase_slot_with_noise", box, output.height, output.width),
                          {key[0], key[1]});
}

}  // namespace

void bind_filter(nb::module_& m) {
  m.def("sharpen", &sharpen_image, "image"_a, "factor"_a,
        "PIL.ImageEnhance.Sharpness on an HxWxC image.");
  m.def("gaussian_blur", &blur_image, "image"_a, "kernel_size"_a, "sigma"_a,
        "weights"_a = std::vector<float>(),
        "torchvision's gaussian_blur on an HxWxC image; sizes and sigmas are (across, down). "
        "Weights, from the middle outwards, across and then down unless the kernel is square, are "
        "taken instead of those that the sigmas give.");
  m.def("box_blur", &box_blur_image, "image"_a, "radius"_a, "passes"_a,
        "PIL.ImageFilter.BoxBlur on an HxWxC image, `passes` times across and then as often down; "
        "the radius is (across, down).");
  m.def("add_gaussian_noise", &add_noise, "image"_a, "mean"_a, "sigma"_a, "clip"_a, "key"_a,
        "torchvision's gaussian_noise on an HxWxC image, mean and sigma in levels, with the "
        "numbers of `key`. Gray becomes RGB.");
  m.def("normal_numbers", &normal_numbers, "count"_a, "key"_a,
        "The first numbers of the normal distribution that `key` stands for.");
  m.def("erase", &erase_pixels, "image"_a, "box"_a, "colour"_a,
        "A copy of an HxWxC image with `box` (top, left, height, width) filled.");
  m.def("erase_with_noise", &erase_pixels_with_noise, "image"_a, "box"_a, "key"_a,
        "A copy of an HxWxC image with `box` filled by normal noise, cast to bytes.");
  m.def("erase_slot", &erase_slot, "batch"_a.noconvert(), "slot"_a, "box"_a, "value"_a,
        "layout"_a = "chw", "Fill `box` of one image of a batch, in place.");
  m.def("erase_slot_with_noise", &erase_slot_with_noise, "batch"_a.noconvert(), "slot"_a, "box"_a,
        "key"_a, "layout"_a = "chw",
        "Fill `box` of one image of a batch with normal noise, in place.");
}

}  // namespace penstock
