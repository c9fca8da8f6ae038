// The effects on pixels; penstock/transforms/effects.py has the same numbers, and says what each
// reads.
#pragma once

#include <cstdint>

namespace penstock {

enum class EffectKind : int32_t {
  brightness = 1,
  contrast = 2,
  saturation = 3,
  hue = 4,
  sharpness = 5,
  posterize = 6,
  solarize = 7,
  solarize_add = 8,
  invert = 9,
  autocontrast = 10,
  equalize = 11,
  grayscale = 12,
  permute_channels = 13,
  affine = 14,
  perspective = 15,
  gaussian_blur = 16,
  gaussian_noise = 17,
  erase = 18,
  elastic = 19,
  mix_begin = 20,
  mix_add = 21,
  mix_end = 22,
};

}  // namespace penstock
