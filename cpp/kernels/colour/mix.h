// A weighted sum of images, as AugMix makes one.
#pragma once

#include "base/buffer.h"
#include "base/image.h"

namespace penstock {

/// Sums weight * image in float32, one rounding a product and one a sum, as tensors do. Weights are
/// to add up to one; what leaves 0 .. 255 is cut off.
class MixSum {
 public:
  void begin(const PlanarView& image, float weight);
  /// An image of the size of the first. If only one of them is gray, the sum gets three channels.
  void add(const PlanarView& image, float weight);
  /// Gray until an image with colour came.
  int channels() const { return channels_; }
  /// The sum, with fractions cut off. The target has the first image's size and `channels()`.
  void end(const PlanarTarget& target) const;

 private:
  float* row(int channel, int y) const;
  void widen();

  Buffer sums_;
  int height_ = 0;
  int width_ = 0;
  int channels_ = 0;
};

}  // namespace penstock
