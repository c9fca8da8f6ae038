// The effects of a sample on its working image.
#pragma once

#include <span>

#include "base/buffer.h"
#include "base/image.h"
#include "engine/mix_branches.h"
#include "engine/program.h"
#include "kernels/colour/pending_tables.h"
#include "kernels/filter/blur.h"
#include "kernels/output.h"
#include "kernels/warp/warp.h"

namespace penstock {

/// What a worker keeps between effects and between samples.
struct EffectScratch {
  PendingTables tables;
  MixBranches mix;
  BlurScratch blur;
  WarpScratch warp;
  Buffer field;  // displacements of an elastic effect
  Buffer smoothing;
  Buffer spare;  // for results of effects that do not work in place
};

/// The size of an image of height x width after `effects`.
/// Throws Error naming the effect that is unknown or does not fit its image.
Region size_after_effects(std::span<const Effect> effects, int height, int width);

/// What a gaussian_blur reads.
BlurSpec blur_spec_of(const double* numbers);

/// Applies effects that size_after_effects has accepted to an image in `memory`. The result lies
/// there or in scratch.spare; it may have gained or lost colour.
PlanarTarget run_effects(const PlanarTarget& image, Buffer& memory, std::span<const Effect> effects,
                         EffectScratch& scratch);

/// Applies effects on a finished slot.
void run_finished_effects(const Output& output, std::span<const Effect> effects);

}  // namespace penstock
