#include "kernels/filter/erase.h"

#include <algorithm>
#include <cstring>

#include "kernels/mix/element_rows.h"
#include "kernels/random/numbers.h"

namespace penstock {
namespace {

Output output_to(const PlanarTarget& image, int channel) {
  Output output;
  output.data = image.plane[channel];
  output.row_stride = image.stride;
  output.height = image.height;
  output.width = image.width;
  output.channels = 1;
  return output;
}

/// The channels of an output, whichever its layout.
class Channels {
 public:
  explicit Channels(const Output& output)
      : output_(output),
        element_bytes_(size_of(output.element)),
        interleaved_(output.layout == Layout::hwc),
        step_bytes_(interleaved_ ? output.channels * element_bytes_ : element_bytes_) {}

  /// Writes elements that lie side by side in `source` to `count` pixels of a row.
  void put(int channel, int y, int x, const void* source, int count) const {
    uint8_t* to = static_cast<uint8_t*>(output_.data) + y * output_.row_stride + x * step_bytes_ +
                  channel * (interleaved_ ? element_bytes_ : output_.plane_stride);
    if (step_bytes_ == element_bytes_) {
      std::memcpy(to, source, static_cast<size_t>(count) * element_bytes_);
      return;
    }
    const auto* from = static_cast<const uint8_t*>(source);
    for (int i = 0; i < count; ++i)
      std::memcpy(to + i * step_bytes_, from + i * element_bytes_, element_bytes_);
  }

 private:
  const Output& output_;
  ptrdiff_t element_bytes_;
  bool interleaved_;
  ptrdiff_t step_bytes_;
};

constexpr int kAtOnce = 256;
using Elements = uint8_t[kAtOnce * sizeof(float)];

void fill_channel(const Output& output, int channel, const Region& region, float value,
                  const ElementRows& kernels) {
  float numbers[kAtOnce];
  Elements elements;
  std::fill_n(numbers, kAtOnce, value);
  kernels.narrow(elements, numbers, kAtOnce);
  const Channels channels(output);
  for (int y = region.top; y < region.top + region.height; ++y)
    for (int x = 0; x < region.width; x += kAtOnce)
      channels.put(channel, y, region.left + x, elements, std::min(kAtOnce, region.width - x));
}

void fill_channel(const Output& output, int channel, const Region& region, NormalStream& stream,
                  const ElementRows& kernels) {
  Elements elements;
  const Channels channels(output);
  for (int y = region.top; y < region.top + region.height; ++y)
    for (int x = 0, count; x < region.width; x += count) {
      const float* numbers = stream.next(std::min(kAtOnce, region.width - x), count);
      kernels.narrow(elements, numbers, count);
      channels.put(channel, y, region.left + x, elements, count);
    }
}

}  // namespace

void erase(const PlanarTarget& image, const Region& region, const uint8_t colour[3]) {
  for (int c = 0; c < image.channels; ++c)
    for (int y = region.top; y < region.top + region.height; ++y)
      std::memset(image.row(c, y) + region.left, colour[c], region.width);
}

void erase_with_noise(const PlanarTarget& image, const Region& region, PhiloxKey key) {
  const ElementRows kernels = PENSTOCK_PICK(element_rows)(Element::uint8);
  NormalStream stream(key);
  for (int c = 0; c < image.channels; ++c)
    fill_channel(output_to(image, c), 0, region, stream, kernels);
}

void erase_output(const Output& output, const Region& region, const float value[3]) {
  const ElementRows kernels = PENSTOCK_PICK(element_rows)(output.element);
  for (int c = 0; c < output.channels; ++c) fill_channel(output, c, region, value[c], kernels);
}

void erase_output_with_noise(const Output& output, const Region& region, PhiloxKey key) {
  const ElementRows kernels = PENSTOCK_PICK(element_rows)(output.element);
  NormalStream stream(key);
  for (int c = 0; c < output.channels; ++c) fill_channel(output, c, region, stream, kernels);
}

}  // namespace penstock
