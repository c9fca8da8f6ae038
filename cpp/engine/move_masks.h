// The masks of one sample, moved as its program moves the image's pixels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "engine/effects.h"
#include "engine/run_sample.h"
#include "kernels/mask/mask_map.h"
#include "kernels/mask/runs.h"

namespace penstock {

/// What a worker keeps between the masks of samples.
struct MaskScratch {
  std::vector<int32_t> rows, columns, pixels;
  std::vector<int32_t> spare;
  std::vector<Effect> effects;
  EffectScratch effect;
  Buffer image;
  RunDrawer drawer;
};

/// Which pixel of a mask of height x width each pixel after `program` comes from. The program's
/// resizes and warps must use the nearest pixel. The map lies in `scratch`.
/// Throws Error for a step or effect that does not fit, or that masks do not follow.
MaskMap make_mask_map(const Program& program, int height, int width, MaskScratch& scratch);

/// Masks of a sample: run lengths, or a stack of numbers of one or two bytes, one mask after the
/// other.
struct MaskSource {
  std::span<const uint8_t> runs;  // if not empty, the rest is not read
  const void* stack = nullptr;
  int count = 0;
  int height = 0;
  int width = 0;
  int value_bytes = 1;
};

struct MaskWork {
  MaskSource source;
  std::vector<int32_t> numbers;  // which of the masks are wanted, in this order
  Program program;
  void* out = nullptr;  // numbers x out_height x out_width values, one byte each for run lengths
  int out_height = 0;
  int out_width = 0;
  uint16_t fill = 0;  // what comes in from outside; 0 for run lengths
};

/// Throws Error, without the sample's name, if the masks are damaged or the sizes do not fit.
void move_masks(const MaskWork& work, MaskScratch& scratch);

}  // namespace penstock
