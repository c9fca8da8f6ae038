#include "engine/effects.h"

#include <cstring>
#include <utility>

#include "kernels/colour/opencv_gray.h"
#include "kernels/filter/erase.h"
#include "kernels/filter/noise.h"
#include "kernels/filter/sharpen.h"
#include "kernels/tensor/image_levels.h"
#include "kernels/warp/elastic.h"

namespace penstock {
namespace {

using Erase = Parameters<EffectKind::erase>;

PhiloxKey key_of(const double (&words)[2]) {
  return {static_cast<uint32_t>(words[0]), static_cast<uint32_t>(words[1])};
}

constexpr bool may_move_whole_pixels(EffectKind kind) {
  return kind == EffectKind::affine || kind == EffectKind::perspective;
}

Region region_of(const Erase& p) {
  return {static_cast<int>(p.top), static_cast<int>(p.left), static_cast<int>(p.height),
          static_cast<int>(p.width)};
}

void copy_planes(const PlanarTarget& target, const PlanarView& source) {
  for (int c = 0; c < target.channels; ++c)
    for (int y = 0; y < target.height; ++y)
      std::memcpy(target.row(c, y), source.row(source.channels == 1 ? 0 : c, y),
                  static_cast<size_t>(target.width));
}

/// The working image of one sample as its effects go by. There is a call operator for each kind.
class EffectRun {
 public:
  EffectRun(const PlanarTarget& image, Buffer& memory, EffectScratch& scratch)
      : image_(image), memory_(memory), scratch_(scratch) {}

  /// `later` are the effects behind it.
  void apply(const Effect& effect, std::span<const Effect> later) {
    effect_ = &effect;
    if (!is_colour_effect(effect.kind) && !may_move_whole_pixels(effect.kind)) flush();
    scratch_.tables.set_watching(count_early(later));
    visit_effect(effect.kind, effect.numbers, *this);
  }

  const PlanarTarget& image() const { return image_; }

  void operator()(const Parameters<EffectKind::none>&) {}

  template <EffectKind kKind>
    requires(is_colour_effect(kKind))
  void operator()(const Parameters<kKind>&) {
    // The kinds that can wait only add to a table, or change the order of planes.
    if (!can_wait(kKind)) make_own();
    scratch_.tables.add(image_, kKind, effect_->numbers);
    if (!effect_->waits) flush();
  }

  void operator()(const Parameters<EffectKind::sharpness>& p) {
    const PlanarTarget out = next(image_.height, image_.width, image_.channels);
    sharpen(out, image_.view(), static_cast<float>(p.factor));
    replace(out);
  }

  void operator()(const Parameters<EffectKind::gaussian_blur>& p) {
    const PlanarTarget out = next(image_.height, image_.width, image_.channels);
    gaussian_blur(out, image_.view(), blur_spec_of(p), scratch_.blur);
    replace(out);
  }

  void operator()(const Parameters<EffectKind::box_blur>& p) {
    const PlanarTarget out = next(image_.height, image_.width, image_.channels);
    box_blur(out, image_.view(), box_blur_spec_of(p), scratch_.box_blur);
    replace(out);
  }

  void operator()(const Parameters<EffectKind::affine>& p) {
    warp(p, p.rounded[0] != 0 ? warp_affine_rounded : warp_affine);
  }
  void operator()(const Parameters<EffectKind::perspective>& p) { warp(p, warp_perspective); }

  void operator()(const Parameters<EffectKind::elastic>& p) {
    const ElasticSpec spec{p.alpha_across, p.alpha_down, p.sigma_across, p.sigma_down};
    const Fill fill = fill_of(p.fill);
    const size_t pixels = static_cast<size_t>(image_.height) * image_.width;
    auto* dx = reinterpret_cast<float*>(scratch_.field.reserve(2 * pixels * sizeof(float)));
    elastic_field(dx, dx + pixels, image_.height, image_.width, spec, key_of(p.key),
                  scratch_.smoothing);
    const PlanarTarget out = next(image_.height, image_.width, channels_under(fill));
    warp_displaced(out, image_.view(), dx, dx + pixels, static_cast<Filter>(p.filter), fill.colour,
                   scratch_.warp);
    replace(out);
  }

  void operator()(const Parameters<EffectKind::gaussian_noise>& p) {
    NoiseSpec spec;
    spec.mean = static_cast<float>(p.mean * 255);
    spec.sigma = static_cast<float>(p.sigma * 255);
    spec.clip = p.clip != 0;
    spec.key = key_of(p.key);
    give_colour();
    make_own();
    add_gaussian_noise(image_, image_.view(), spec);
    scratch_.tables.forget_counts();
  }

  void operator()(const Erase& p) {
    Fill fill;  // cut to whole numbers, and around at 256, as a tensor casts them
    for (int c = 0; c < 3; ++c)
      fill.colour[c] = static_cast<uint8_t>(static_cast<int64_t>(p.value[c]));
    const bool by_noise = p.by_noise != 0;
    if (by_noise || !fill.is_gray()) give_colour();
    make_own();
    if (by_noise)
      erase_with_noise(image_, region_of(p), key_of(p.key));
    else
      erase(image_, region_of(p), fill.colour);
    scratch_.tables.forget_counts();
  }

  void operator()(const Parameters<EffectKind::mix_begin>& p) {
    scratch_.mix.begin(own_memory(), image_, static_cast<float>(p.weight));
  }

  void operator()(const Parameters<EffectKind::mix_add>& p) {
    MixBranches& mix = scratch_.mix;
    const auto weight = static_cast<float>(p.weight);
    if (mix.remembers(image_))
      mix.add_remembered(image_, weight);
    else
      mix.add(own_memory(), image_, weight);
    replace(mix.first());
  }

  void operator()(const Parameters<EffectKind::mix_end>&) {
    const auto parts = scratch_.mix.parts();
    const PlanarTarget sum = next(image_.height, image_.width, mixed_channels(parts));
    mix_images(sum, parts);
    replace(sum);
  }

  void operator()(const Parameters<EffectKind::tensor_brightness>& p) {
    make_own();
    scale_levels(image_, p.factor);
    scratch_.tables.forget_counts();
  }
  void operator()(const Parameters<EffectKind::tensor_contrast>& p) {
    begin_tensor();
    stretch_levels_from_mean(image_, p.factor);
  }
  void operator()(const Parameters<EffectKind::tensor_saturation>& p) {
    begin_tensor();
    saturate_levels_of(image_, p.factor);
  }
  void operator()(const Parameters<EffectKind::tensor_hue>& p) {
    begin_tensor();
    turn_hue_of(image_, p.factor);
  }
  void operator()(const Parameters<EffectKind::tensor_grayscale>&) {
    begin_tensor();
    turn_gray(image_);
    image_.channels = 1;
  }
  void operator()(const Parameters<EffectKind::opencv_grayscale>&) {
    if (image_.channels == 1) return;
    begin_tensor();
    PENSTOCK_PICK(turn_gray_as_opencv)(image_);
    image_.channels = 1;
  }

 private:
  /// Colours of tensors are changed in place, and three equal ones are not one: gray is rounded.
  void begin_tensor() {
    give_colour();
    make_own();
    scratch_.tables.forget_counts();
  }

  void flush() {
    if (!scratch_.tables.pending()) return;
    const bool apart = scratch_.mix.remembers(image_);
    const PlanarTarget out = apart ? next(image_.height, image_.width, image_.channels) : image_;
    scratch_.tables.flush(out, image_.view());
    image_ = out;
  }

  /// Call this before changing pixels in place: it copies pixels that a mix remembers.
  void make_own() {
    if (!scratch_.mix.remembers(image_)) return;
    flush();  // which makes a copy, if there is anything to do
    if (!scratch_.mix.remembers(image_)) return;
    const PlanarTarget own = next(image_.height, image_.width, image_.channels);
    copy_planes(own, image_.view());
    image_ = own;
  }

  /// Where the image lies, unless a mix remembers it.
  Buffer& own_memory() { return scratch_.spare.holds(image_.plane[0]) ? scratch_.spare : memory_; }

  /// Memory for a result beside the present image. Two places in turn are enough, and more would
  /// not stay in the cache.
  PlanarTarget next(int height, int width, int channels) {
    Buffer& free = scratch_.spare.holds(image_.plane[0]) ? memory_ : scratch_.spare;
    return working_image(free, height, width, channels);
  }

  /// Goes on with another image.
  void replace(const PlanarTarget& image) {
    image_ = image;
    scratch_.tables.forget_counts();
  }

  void give_colour() {
    if (image_.channels == 3) return;
    const PlanarTarget wide = next(image_.height, image_.width, 3);
    copy_planes(wide, image_.view());
    image_ = wide;
  }

  /// The number of channels of an image once `fill` has come in from outside.
  int channels_under(const Fill& fill) const {
    return image_.channels == 1 && fill.is_gray() ? 1 : 3;
  }

  template <class Matrix, class Warp>
  void warp(const Matrix& p, Warp how) {
    Fill fill = fill_of(p.fill);
    // A table can wait while whole pixels are moved, if it makes the fill what it is to be.
    if (static_cast<Filter>(p.filter) != Filter::nearest ||
        !scratch_.tables.pass_below(fill.colour))
      flush();
    const PlanarTarget out = next(effect_->height, effect_->width, channels_under(fill));
    const WarpFrame frame =
        has_frame(p.frame) ? frame_of(p.frame) : whole_frame(out, image_.view());
    how(out, image_.view(), frame, p.matrix, static_cast<Filter>(p.filter), fill.colour,
        scratch_.warp);
    replace(out);
  }

  const Effect* effect_ = nullptr;  // the present one
  PlanarTarget image_;
  Buffer& memory_;
  EffectScratch& scratch_;
};

}  // namespace

void MixBranches::begin(Buffer& memory, const PlanarTarget& image, float weight) {
  images_ = 0;
  parts_.clear();
  first_ = image;
  add(memory, image, weight);
}

void MixBranches::add(Buffer& memory, const PlanarTarget& image, float weight) {
  if (images_ == memory_.size()) memory_.emplace_back();
  std::swap(memory_[images_++], memory);
  add_remembered(image, weight);
}

Fill fill_of(double number) {
  const auto packed = static_cast<uint32_t>(number);
  return {{static_cast<uint8_t>(packed), static_cast<uint8_t>(packed >> 8),
           static_cast<uint8_t>(packed >> 16)}};
}

BlurSpec blur_spec_of(const Parameters<EffectKind::gaussian_blur>& p) {
  BlurSpec spec;
  spec.kernel_width = static_cast<int>(p.kernel_width);
  spec.kernel_height = static_cast<int>(p.kernel_height);
  spec.sigma_across = static_cast<float>(p.sigma_across);
  spec.sigma_down = static_cast<float>(p.sigma_down);
  static_assert(std::extent_v<decltype(p.weights)> == kMostGivenWeights);
  for (int i = 0; i < kMostGivenWeights; ++i) spec.weights[i] = static_cast<float>(p.weights[i]);
  return spec;
}

BoxBlurSpec box_blur_spec_of(const Parameters<EffectKind::box_blur>& p) {
  return {static_cast<float>(p.radius_across), static_cast<float>(p.radius_down),
          static_cast<int>(p.passes)};
}

PlanarTarget run_effects(const PlanarTarget& image, Buffer& memory, std::span<const Effect> effects,
                         EffectScratch& scratch) {
  EffectRun run(image, memory, scratch);
  for (size_t i = 0; i < effects.size(); ++i) run.apply(effects[i], effects.subspan(i + 1));
  return run.image();
}

void run_finished_effects(const Output& output, std::span<const Effect> effects) {
  for (const Effect& effect : effects) {
    const auto p = effect.read<EffectKind::erase>();
    const float value[3] = {static_cast<float>(p.value[0]), static_cast<float>(p.value[1]),
                            static_cast<float>(p.value[2])};
    if (p.by_noise != 0)
      erase_output_with_noise(output, region_of(p), key_of(p.key));
    else
      erase_output(output, region_of(p), value);
  }
}

}  // namespace penstock
