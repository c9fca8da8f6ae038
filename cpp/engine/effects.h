// The effects of a sample on its working image.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/image.h"
#include "engine/program.h"
#include "kernels/colour/mix.h"
#include "kernels/colour/pending_tables.h"
#include "kernels/filter/blur.h"
#include "kernels/filter/box_blur.h"
#include "kernels/output.h"
#include "kernels/warp/warp.h"

namespace penstock {

/// The images of a mix until it ends. Their memory is taken over instead of being copied.
/// The first image is the one to which every branch goes back. Others may read it in place, but
/// must not write to an image that `remembers` knows.
class MixBranches {
 public:
  /// Takes over `memory`, in which the image lies, and leaves some other memory in its place.
  void begin(Buffer& memory, const PlanarTarget& image, float weight);
  /// Adds another image, and takes over its memory too.
  void add(Buffer& memory, const PlanarTarget& image, float weight);
  /// Adds an image that the mix remembers already.
  void add_remembered(const PlanarTarget& image, float weight) {
    parts_.push_back({image.view(), weight});
  }

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

/// What a worker keeps between effects and between samples.
struct EffectScratch {
  PendingTables tables;
  MixBranches mix;
  BlurScratch blur;
  BoxBlurScratch box_blur;
  WarpScratch warp;
  Buffer field;  // displacements of an elastic effect
  Buffer smoothing;
  Buffer spare;  // for results of effects that do not work in place
};

/// What a warp puts where it finds no pixel.
struct Fill {
  uint8_t colour[3];
  bool is_gray() const { return colour[0] == colour[1] && colour[1] == colour[2]; }
};

/// The same from an effect's number.
Fill fill_of(double number);

/// The arguments of the blur kernels.
BlurSpec blur_spec_of(const Parameters<EffectKind::gaussian_blur>& parameters);

BoxBlurSpec box_blur_spec_of(const Parameters<EffectKind::box_blur>& parameters);

/// Whether these effects want extremes to be found while the image before them is written.
inline bool count_early(std::span<const Effect> effects) {
  return !effects.empty() && effects[0].counts_early;
}

/// Applies effects that size_after has accepted to an image in `memory`. The result lies there or
/// in scratch.spare; it may have gained or lost colour. What still waits is left in scratch.tables,
/// for the next call or the final pass; what these know already must be true of the image.
PlanarTarget run_effects(const PlanarTarget& image, Buffer& memory, std::span<const Effect> effects,
                         EffectScratch& scratch);

/// Applies effects on a finished slot.
void run_finished_effects(const Output& output, std::span<const Effect> effects);

}  // namespace penstock
