// What Python hands the core: for each sample a short list of steps, drawn and fused beforehand.
#pragma once

#include <cstdint>

#include "base/effect_kind.h"

namespace penstock {

/// One geometric step, done in this order: pad the input, take a box of it, resize that box,
/// take a window of the result, mirror. Parts that are not wanted are identities.
///
/// The first step reads the decoded source, later ones the result before them; the last one writes
/// the batch slot. All fields are int32 because Python fills rows of an int32 array
/// (penstock/planner/lower.py names the same columns).
struct Step {
  int32_t pad_left, pad_top, pad_right, pad_bottom;
  int32_t pad_mode;
  int32_t pad_fill;  // red | green << 8 | blue << 16
  int32_t crop_top, crop_left, crop_height, crop_width;
  int32_t resize_height, resize_width;
  int32_t filter;  // -1: no resize
  int32_t vertical_first;
  int32_t window_top, window_left, window_height, window_width;
  int32_t flip_horizontal, flip_vertical;
  /// A JPEG may be decoded at 1 / dct_scale (1, 2, 4 or 8) of its size before the resize, which
  /// then has less to do. Boxes stay in pixels of the whole image. More than 1 only in a first step
  /// that does not pad and resizes with a filter other than nearest.
  int32_t dct_scale;
};

inline constexpr int kStepFields = 21;
static_assert(sizeof(Step) == kStepFields * sizeof(int32_t));

/// In Effect::after_step: changes the finished slot, after the final pass. Only for `erase`.
inline constexpr int32_t kFinished = -1;

inline constexpr int kEffectNumbers = 32;

/// One effect on one sample, whose effects lie in the order in which they are done.
struct Effect {
  EffectKind kind;
  int32_t after_step;  // the step whose result it changes
  int32_t height;      // of the image afterwards
  int32_t width;
  double numbers[kEffectNumbers];
};

}  // namespace penstock
