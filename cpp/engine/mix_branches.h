// The images of a mix until it ends, in memory that goes around instead of being copied.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/colour/mix.h"

namespace penstock {

/// Begins with the image to which every branch goes back. Others may read it where it is, and must
/// not write where `remembers` says so.
class MixBranches {
 public:
  /// Takes over `memory`, in which the image lies, and leaves some other memory in its place.
  void begin(Buffer& memory, const PlanarTarget& image, float weight);
  /// Adds another image, and takes over its memory too.
  void add(Buffer& memory, const PlanarTarget& image, float weight);
  /// Adds an image that the mix remembers already.
  void add_remembered(const PlanarTarget& image, float weight);

  const PlanarTarget& first() const { return first_; }
  /// Whether this is the first image, maybe with its planes in another order.
  bool remembers(const PlanarTarget& image) const {
    return !memory_.empty() && memory_[0].holds(image.plane[0]);
  }
  std::span<const MixPart> parts() const { return parts_; }

 private:
  std::vector<Buffer> memory_;  // in use by images, or recycled
  size_t images_ = 0;
  std::vector<MixPart> parts_;
  PlanarTarget first_;
};

}  // namespace penstock
