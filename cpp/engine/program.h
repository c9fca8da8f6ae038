// What Python hands the core: for each sample a short list of steps, drawn and fused beforehand,
// and the effects that follow them.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/effects.h"
#include "base/image.h"
#include "codec/frame.h"
#include "kernels/resample.h"

namespace penstock {

/// The fields of a step, in their order. Python fills rows of an int32 array with them; the
/// bindings export the names.
///
/// - pad_mode is a PadMode, pad_fill is red | green << 8 | blue << 16;
/// - filter is -1 where nothing is resized;
/// - a JPEG may be decoded at 1 / dct_scale (1, 2, 4 or 8) of its size before the resize, which
///   then has less to do. Boxes stay in pixels of the whole image. More than 1 only in a first step
///   that does not pad and resizes with a filter other than nearest;
/// - where `dc_alone` is 1, only the first coefficient of each block is looked at. With a dct_scale
///   of 8 only;
/// - where `gray` is 1, the image is turned gray before all else; where it is kLumaAlone, a JPEG is
///   decoded to its luminance alone, which is another gray. In a first step only;
/// - only a part of the crop may be resized, though filters read past its edges as far as the crop
///   reaches (Pillow's `resize(box=)`): box_left and so on are its sides in pixels of the crop, as
///   the bits of floats; four zeros stand for all of it. Not with a dct_scale, nor with the filter
///   nearest;
/// - weights is a Weights. Those other than Pillow's are for some filters only, which
///   kernels/resample.h names, with a dct_scale of 1 and without a box.
// clang-format off
#define PENSTOCK_STEP_FIELDS(FIELD)                                              \
  FIELD(pad_left) FIELD(pad_top) FIELD(pad_right) FIELD(pad_bottom)              \
  FIELD(pad_mode) FIELD(pad_fill)                                                \
  FIELD(crop_top) FIELD(crop_left) FIELD(crop_height) FIELD(crop_width)          \
  FIELD(resize_height) FIELD(resize_width) FIELD(filter) FIELD(vertical_first)   \
  FIELD(window_top) FIELD(window_left) FIELD(window_height) FIELD(window_width)  \
  FIELD(flip_horizontal) FIELD(flip_vertical)                                    \
  FIELD(dct_scale) FIELD(dc_alone) FIELD(gray) FIELD(weights)                    \
  FIELD(box_left) FIELD(box_top) FIELD(box_right) FIELD(box_bottom)
// clang-format on

inline constexpr int32_t kLumaAlone = 2;

/// One geometric step, done in this order: pad the input, take a box of it, resize that box,
/// take a window of the result, mirror. A part that is not needed changes nothing.
///
/// The first step reads the decoded source, later ones the result before them; the last one writes
/// the batch slot.
struct Step {
#define FIELD(name) int32_t name;
  PENSTOCK_STEP_FIELDS(FIELD)
#undef FIELD

  Region crop() const { return {crop_top, crop_left, crop_height, crop_width}; }
  Region window() const { return {window_top, window_left, window_height, window_width}; }
  bool pads() const { return (pad_left | pad_top | pad_right | pad_bottom) != 0; }
  bool resizes() const { return filter >= 0; }
  Reduction reduction() const { return {dct_scale, dc_alone != 0}; }
  bool has_box() const { return (box_left | box_top | box_right | box_bottom) != 0; }
  SourceBox box() const {
    return {std::bit_cast<float>(box_top), std::bit_cast<float>(box_left),
            std::bit_cast<float>(box_bottom), std::bit_cast<float>(box_right)};
  }
};

inline constexpr int kStepFields = sizeof(Step) / sizeof(int32_t);

/// In Effect::after_step: changes the finished slot, after the final pass. Only for `erase`.
inline constexpr int32_t kFinished = -1;

/// One effect on one sample, whose effects lie in the order in which they are done.
struct Effect {
  EffectKind kind;
  int32_t after_step;  // the step whose result it changes
  int32_t height;      // of the image afterwards
  int32_t width;
  double numbers[kEffectNumbers];  // its parameters; see base/effects.h
  /// A table waits until somebody needs the pixels that it makes: another effect on colour goes on
  /// from it, warps without a filter and steps that crop and mirror leave it as it is, and so it
  /// may reach the final pass. Other effects cannot wait.
  bool waits = false;
  /// The statistic that it needs is taken while the image before it is written, by a step or an
  /// effect on colour; others, and crops, which write nothing, leave it to the effect. Only for
  /// autocontrast.
  bool counts_early = false;

  template <EffectKind kKind>
  Parameters<kKind> read() const {
    return read_parameters<kKind>(numbers);
  }
};

/// What is done to one sample.
struct Program {
  std::span<const Step> steps;      // at least one
  std::span<const Effect> effects;  // in the order of the steps they follow, finished ones last
};

/// A sample's effects, taken from the front as the steps go by.
class EffectQueue {
 public:
  explicit EffectQueue(std::span<const Effect> effects) : rest_(effects) {}

  std::span<const Effect> take(int32_t after_step) {
    size_t count = 0;
    while (count < rest_.size() && rest_[count].after_step == after_step) ++count;
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::span<const Effect> rest() const { return rest_; }

 private:
  std::span<const Effect> rest_;
};

/// The size an image of height x width has after the program.
/// Throws Error naming the step or effect that is unknown or does not fit its input.
Region size_after(const Program& program, int height, int width);

}  // namespace penstock
