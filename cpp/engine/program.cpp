#include "engine/program.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "engine/effects.h"
#include "kernels/pad.h"
#include "kernels/resample.h"
#include "kernels/tensor/image_levels.h"
#include "kernels/warp/elastic.h"
#include "kernels/warp/warp.h"

namespace penstock {
namespace {

constexpr int kLargestSide = 1 << 24;

std::string text(int height, int width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

std::string text(const Region& r) {
  return text(r.height, r.width) + " at (" + std::to_string(r.top) + ", " + std::to_string(r.left) +
         ")";
}

bool inside(const Region& r, int height, int width) {
  return r.top >= 0 && r.left >= 0 && r.height >= 1 && r.width >= 1 && r.height <= height &&
         r.width <= width && r.top <= height - r.height && r.left <= width - r.width;
}

bool is_side(int side) { return side >= 1 && side <= kLargestSide; }

/// Complaints are made only where they are needed: programs are checked for every sample.
template <class Complain>
void require(bool fits, size_t step, Complain complaint) {
  if (!fits) throw Error("Step " + std::to_string(step) + ": " + complaint() + ".");
}

/// See PENSTOCK_STEP_FIELDS on dct_scale.
void require_reducible(const Step& s, size_t step) {
  const auto scale = [&] { return "DCT scale " + std::to_string(s.dct_scale); };
  require(s.dct_scale == 2 || s.dct_scale == 4 || s.dct_scale == 8, step,
          [&] { return scale() + " is not 1, 2, 4 or 8"; });
  require(step == 0 && s.resizes() && static_cast<Filter>(s.filter) != Filter::nearest && !s.pads(),
          step, [&] {
            return scale() + " is only for a first step that resizes smoothly and does not pad";
          });
}

/// See PENSTOCK_STEP_FIELDS on boxes.
void require_box(const Step& s, size_t step) {
  const SourceBox box = s.box();
  require(s.resizes() && static_cast<Filter>(s.filter) != Filter::nearest && s.dct_scale == 1, step,
          [&] { return "a box is only for a smooth resize of the whole image"; });
  require(box.top >= 0 && box.left >= 0 && box.top < box.bottom && box.left < box.right &&
              box.bottom <= static_cast<float>(s.crop_height) &&
              box.right <= static_cast<float>(s.crop_width),
          step, [&] {
            const auto number = [](float side) { return std::to_string(side); };
            return "the box from (" + number(box.left) + ", " + number(box.top) + ") to (" +
                   number(box.right) + ", " + number(box.bottom) + ") does not lie in " +
                   text(s.crop_height, s.crop_width) + " pixels";
          });
}

/// See PENSTOCK_STEP_FIELDS on weights.
void require_other_weights(const Step& s, size_t step) {
  const auto weights = [&] { return "weights " + std::to_string(s.weights); };
  require(s.weights >= static_cast<int>(Weights::torch_antialiased) &&
              s.weights <= static_cast<int>(Weights::opencv),
          step, [&] { return weights() + " are unknown"; });
  const auto filter = static_cast<Filter>(s.filter);
  const bool is_opencv = s.weights == static_cast<int>(Weights::opencv);
  require(s.resizes() && s.dct_scale == 1 && s.vertical_first == 0 && !s.has_box(), step, [&] {
    return weights() + " are only for a resize of the whole image at full size, across first";
  });
  require(
      filter == Filter::bilinear || (is_opencv ? filter == Filter::nearest || filter == Filter::box
                                               : filter == Filter::bicubic),
      step, [&] {
        return weights() + " are only for bilinear and " +
               (is_opencv ? "nearest resizes, and those by boxes" : "bicubic resizes");
      });
}

Region size_after_step(const Step& s, size_t i, int height, int width) {
  for (const int32_t border : {s.pad_left, s.pad_top, s.pad_right, s.pad_bottom})
    require(border >= 0 && border <= kLargestSide, i,
            [&] { return "padding must lie between 0 and " + std::to_string(kLargestSide); });
  require(s.pad_mode >= 0 && s.pad_mode <= static_cast<int>(PadMode::symmetric), i,
          [&] { return "padding mode " + std::to_string(s.pad_mode) + " is unknown"; });
  const int padded_height = height + s.pad_top + s.pad_bottom;
  const int padded_width = width + s.pad_left + s.pad_right;
  require(inside(s.crop(), padded_height, padded_width), i, [&] {
    return "crop " + text(s.crop()) + " does not lie in an image of " +
           text(padded_height, padded_width);
  });
  int out_height = s.crop_height, out_width = s.crop_width;
  if (s.resizes()) {
    require(s.filter <= static_cast<int>(Filter::hamming), i,
            [&] { return "filter " + std::to_string(s.filter) + " is unknown"; });
    require(is_side(s.resize_height) && is_side(s.resize_width), i,
            [&] { return "cannot resize to " + text(s.resize_height, s.resize_width); });
    out_height = s.resize_height;
    out_width = s.resize_width;
  }
  if (s.weights != static_cast<int>(Weights::pillow)) require_other_weights(s, i);
  require(inside(s.window(), out_height, out_width), i, [&] {
    return "window " + text(s.window()) + " does not lie in an image of " +
           text(out_height, out_width);
  });
  if (s.dct_scale != 1) require_reducible(s, i);
  if (s.has_box()) require_box(s, i);
  require(s.dc_alone == 0 || (s.dc_alone == 1 && s.dct_scale == 8), i, [&] {
    return "dc_alone is " + std::to_string(s.dc_alone) +
           ", which must be 0, or 1 with a DCT scale of 8";
  });
  require(s.gray == 0 || ((s.gray == 1 || s.gray == kLumaAlone) && i == 0), i, [&] {
    return "gray is " + std::to_string(s.gray) + ", which must be 0, or 1 or 2 in a first step";
  });
  return {0, 0, s.window_height, s.window_width};
}

/// Checks the effects after one step, one after the other, and complains with place and kind.
class EffectCheck {
 public:
  EffectCheck(int height, int width) : height_(height), width_(width) {}

  void check(const Effect& effect, size_t place) {
    effect_ = &effect;
    place_ = place;
    visit_effect(effect.kind, effect.numbers, *this);
    const bool same_size = effect.height == height_ && effect.width == width_;
    require(is_side(effect.height) && is_side(effect.width), [&] {
      return "an image of " + text(effect.height, effect.width) + " is out of range";
    });
    require(
        same_size || effect.kind == EffectKind::affine || effect.kind == EffectKind::perspective,
        "it cannot change an image's size");
    require(same_size || !mixing_, "an image's size cannot change within a mix");
    require(!effect.waits || can_wait(effect.kind), "it is not a table, so it cannot wait");
    require(!effect.counts_early || effect.kind == EffectKind::autocontrast,
            "it has no statistic that could be taken early");
    height_ = effect.height;
    width_ = effect.width;
  }

  Region finish() const {
    if (mixing_) throw Error("Effects: a mix has no end.");
    return {0, 0, height_, width_};
  }

  void operator()(const Parameters<EffectKind::none>&) const {
    require(false, "nothing is not an effect; leave it out");
  }
  /// Kinds that take any numbers.
  template <EffectKind kKind>
  void operator()(const Parameters<kKind>&) const {
    require_numbers();
  }
  void operator()(const Parameters<EffectKind::contrast>& p) const {
    require_numbers();
    require(p.mean[0] >= 0 && p.mean[0] <= 255,
            [&] { return "a mean of " + std::to_string(p.mean[0]) + " is not a level"; });
  }
  void operator()(const Parameters<EffectKind::tensor_contrast>&) const {
    require_numbers();
    require(int64_t{height_} * width_ <= kMostMeanPixels, [&] {
      return "the mean of " + text(height_, width_) + " pixels depends on torch; at most " +
             std::to_string(kMostMeanPixels) + " can be taken";
    });
  }
  void operator()(const Parameters<EffectKind::affine>& p) const { require_warp(p); }
  void operator()(const Parameters<EffectKind::perspective>& p) const { require_warp(p); }
  void operator()(const Parameters<EffectKind::elastic>& p) const {
    require_numbers();
    require_filter(p.filter);
    require(p.sigma_across >= 0 && p.sigma_across <= kLargestSigma && p.sigma_down >= 0 &&
                p.sigma_down <= kLargestSigma,
            "sigma is out of range");
  }
  void operator()(const Parameters<EffectKind::gaussian_blur>& p) const {
    require_numbers();
    require(p.kernel_width < kLargestSide && p.kernel_height < kLargestSide,
            "the kernel is too large");
    const BlurSpec spec = blur_spec_of(p);
    require(spec.kernel_height % 2 == 1 && spec.kernel_width % 2 == 1 && spec.sigma_across > 0 &&
                spec.sigma_down > 0 && blur_fits(spec, height_, width_),
            [&] {
              return "a kernel of " + text(spec.kernel_height, spec.kernel_width) +
                     " does not fit the image";
            });
    require(weights_fit(spec), "the weights do not fit the kernel");
  }
  void operator()(const Parameters<EffectKind::box_blur>& p) const {
    require_numbers();
    const BoxBlurSpec spec = box_blur_spec_of(p);
    for (const float radius : {spec.radius_across, spec.radius_down})
      require(radius >= 0 && radius < kLargestBoxRadius + 1,
              [&] { return "a box cannot have a radius of " + std::to_string(radius); });
    require(spec.passes >= 1 && spec.passes <= kMostBoxPasses,
            [&] { return std::to_string(spec.passes) + " passes are out of range"; });
  }
  void operator()(const Parameters<EffectKind::erase>& p) const {
    require_numbers();
    require(p.top >= 0 && p.left >= 0 && p.height >= 0 && p.width >= 0 &&
                p.top + p.height <= height_ && p.left + p.width <= width_,
            [&] { return "the rectangle does not lie in an image of " + text(height_, width_); });
  }
  void operator()(const Parameters<EffectKind::mix_begin>&) { follow_mix(false, true); }
  void operator()(const Parameters<EffectKind::mix_add>&) { follow_mix(true, true); }
  void operator()(const Parameters<EffectKind::mix_end>&) { follow_mix(true, false); }

 private:
  template <class Complain>
  void require(bool fits, Complain complaint) const {
    if (!fits) complain(complaint());
  }
  void require(bool fits, const char* complaint) const {
    if (!fits) complain(complaint);
  }
  [[noreturn]] void complain(const std::string& complaint) const {
    throw Error("Effect " + std::to_string(place_) + " (kind " +
                std::to_string(static_cast<int>(effect_->kind)) + "): " + complaint + ".");
  }

  /// All numbers are finite, and so small that they can be made integers.
  void require_numbers() const {
    for (const double number : effect_->numbers)
      require(std::abs(number) <= 4294967295.0,  // keys are 32-bit words
              [&] { return "a number is " + std::to_string(number); });
  }

  void require_filter(double filter) const {
    require(filter == 0 || filter == 2 || filter == 3, [&] {
      return "filter " + std::to_string(filter) + " is not nearest, bilinear or bicubic";
    });
  }

  /// Warps take any matrix; but what they read of a source must be there.
  template <class Warp>
  void require_warp(const Warp& p) const {
    require_filter(p.filter);
    if (!has_frame(p.frame)) return;
    for (const double number : p.frame)
      require(number >= 0 && number <= kLargestSide, "its frame is out of range");
    const WarpFrame f = frame_of(p.frame);
    const Region window{f.out_top, f.out_left, effect_->height, effect_->width};
    const Region there{f.in_top, f.in_left, height_, width_};
    require(inside(window, f.out_height, f.out_width) && inside(there, f.in_height, f.in_width),
            [&] { return "its frame does not fit an image of " + text(height_, width_); });
    Region needed = warp_source(p.matrix, window, f.in_height, f.in_width);
    needed.top -= there.top;
    needed.left -= there.left;
    require(inside(needed, height_, width_), "its frame lacks pixels that the warp needs");
  }

  void follow_mix(bool before, bool after) {
    require_numbers();
    require(mixing_ == before, "effects of a mix are out of order");
    mixing_ = after;
  }

  const Effect* effect_ = nullptr;
  size_t place_ = 0;
  int height_, width_;
  bool mixing_ = false;
};

Region size_after_effects(std::span<const Effect> effects, int height, int width) {
  EffectCheck check(height, width);
  for (size_t i = 0; i < effects.size(); ++i) check.check(effects[i], i);
  return check.finish();
}

}  // namespace

Region size_after(const Program& program, int height, int width) {
  Region size{0, 0, height, width};
  EffectQueue queue(program.effects);
  const auto follow = [&](int32_t step) {
    size = size_after_effects(queue.take(step), size.height, size.width);
  };
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    size = size_after_step(step, i, size.height, size.width);
    follow(static_cast<int32_t>(i));
  }
  for (const Effect& effect : queue.rest())
    if (effect.after_step != kFinished || effect.kind != EffectKind::erase)
      throw Error("Effects: one after step " + std::to_string(effect.after_step) +
                  " is out of order, or cannot change a finished image.");
  follow(kFinished);
  return size;
}

}  // namespace penstock
