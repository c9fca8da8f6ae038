#include "engine/effects.h"

#include <cstring>

#include "engine/working_image.h"
#include "kernels/filter/erase.h"
#include "kernels/filter/noise.h"
#include "kernels/filter/sharpen.h"
#include "kernels/warp/elastic.h"

namespace penstock {
namespace {

struct Fill {
  uint8_t colour[3];
  bool is_gray() const { return colour[0] == colour[1] && colour[1] == colour[2]; }
};

Fill fill_of(double number) {
  const auto packed = static_cast<uint32_t>(number);
  return {{static_cast<uint8_t>(packed), static_cast<uint8_t>(packed >> 8),
           static_cast<uint8_t>(packed >> 16)}};
}

PhiloxKey key_of(const double* numbers) {
  return {static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1])};
}

Region region_of(const double* numbers) {
  return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), static_cast<int>(numbers[2]),
          static_cast<int>(numbers[3])};
}

void copy_planes(const PlanarTarget& target, const PlanarView& source) {
  for (int c = 0; c < target.channels; ++c)
    for (int y = 0; y < target.height; ++y)
      std::memcpy(target.row(c, y), source.row(source.channels == 1 ? 0 : c, y),
                  static_cast<size_t>(target.width));
}

/// Whether a colour effect may change the pixels at once. The others only add to a table, or change
/// the order of planes.
bool changes_in_place(EffectKind kind) {
  return kind == EffectKind::saturation || kind == EffectKind::hue || kind == EffectKind::grayscale;
}

/// The working image of one sample as its effects go by.
class EffectRun {
 public:
  EffectRun(const PlanarTarget& image, Buffer& memory, EffectScratch& scratch)
      : image_(image), memory_(memory), scratch_(scratch) {
    scratch_.tables.begin();
  }

  void apply(const Effect& effect);

  PlanarTarget finish() {
    flush();
    return image_;
  }

 private:
  void flush() {
    if (!scratch_.tables.pending()) return;
    const bool apart = scratch_.mix.remembers(image_);
    const PlanarTarget out = apart ? next(image_.height, image_.width, image_.channels) : image_;
    scratch_.tables.flush(out, image_.view());
    image_ = out;
  }

  /// To be called before pixels change in place, which those that a mix remembers must not.
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

  /// Pixels are someone else's now.
  void replace(const PlanarTarget& image) {
    image_ = image;
    scratch_.tables.begin();
  }

  void give_colour() {
    if (image_.channels == 3) return;
    const PlanarTarget wide = next(image_.height, image_.width, 3);
    copy_planes(wide, image_.view());
    image_ = wide;
  }

  template <int kCount, class Warp>
  void warp(const Effect& effect, Warp how) {
    const Fill fill = fill_of(effect.numbers[kCount + 1]);
    double matrix[kCount];
    std::memcpy(matrix, effect.numbers, sizeof matrix);
    const PlanarTarget out =
        next(effect.height, effect.width, image_.channels == 1 && fill.is_gray() ? 1 : 3);
    how(out, image_.view(), matrix, static_cast<Filter>(effect.numbers[kCount]), fill.colour,
        scratch_.warp);
    replace(out);
  }

  void elastic(const Effect& effect);
  void erase_region(const double* numbers);
  void add_noise(const double* numbers);
  void mix(const Effect& effect);

  PlanarTarget image_;
  Buffer& memory_;
  EffectScratch& scratch_;
};

void EffectRun::elastic(const Effect& effect) {
  const double* numbers = effect.numbers;
  const ElasticSpec spec{numbers[0], numbers[1], numbers[2], numbers[3]};
  const Fill fill = fill_of(numbers[5]);
  const size_t pixels = static_cast<size_t>(image_.height) * image_.width;
  auto* dx = reinterpret_cast<float*>(scratch_.field.reserve(2 * pixels * sizeof(float)));
  elastic_field(dx, dx + pixels, image_.height, image_.width, spec, key_of(numbers + 6),
                scratch_.smoothing);
  const PlanarTarget out =
      next(image_.height, image_.width, image_.channels == 1 && fill.is_gray() ? 1 : 3);
  warp_displaced(out, image_.view(), dx, dx + pixels, static_cast<Filter>(numbers[4]), fill.colour,
                 scratch_.warp);
  replace(out);
}

void EffectRun::erase_region(const double* numbers) {
  const Region region = region_of(numbers);
  if (numbers[7] != 0) {
    give_colour();
    make_own();
    erase_with_noise(image_, region, key_of(numbers + 8));
    return;
  }
  Fill fill;  // cut to whole numbers, and around at 256, as a tensor casts them
  for (int c = 0; c < 3; ++c)
    fill.colour[c] = static_cast<uint8_t>(static_cast<int64_t>(numbers[4 + c]));
  if (!fill.is_gray()) give_colour();
  make_own();
  erase(image_, region, fill.colour);
}

void EffectRun::add_noise(const double* numbers) {
  NoiseSpec spec;
  spec.mean = static_cast<float>(numbers[0] * 255);
  spec.sigma = static_cast<float>(numbers[1] * 255);
  spec.clip = numbers[2] != 0;
  spec.key = key_of(numbers + 3);
  give_colour();
  make_own();
  add_gaussian_noise(image_, image_.view(), spec);
}

void EffectRun::mix(const Effect& effect) {
  const auto weight = static_cast<float>(effect.numbers[0]);
  MixBranches& mix = scratch_.mix;
  if (effect.kind == EffectKind::mix_begin) return mix.begin(own_memory(), image_, weight);
  if (effect.kind == EffectKind::mix_add) {
    if (mix.remembers(image_))
      mix.add_remembered(image_, weight);
    else
      mix.add(own_memory(), image_, weight);
    return replace(mix.first());
  }
  const PlanarTarget sum = next(image_.height, image_.width, mixed_channels(mix.parts()));
  mix_images(sum, mix.parts());
  replace(sum);
}

void EffectRun::apply(const Effect& effect) {
  if (is_colour_effect(effect.kind)) {
    if (changes_in_place(effect.kind)) make_own();
    scratch_.tables.add(image_, effect.kind, effect.numbers);
    return;
  }
  flush();
  switch (effect.kind) {
    case EffectKind::sharpness: {
      const PlanarTarget out = next(image_.height, image_.width, image_.channels);
      sharpen(out, image_.view(), static_cast<float>(effect.numbers[0]));
      return replace(out);
    }
    case EffectKind::gaussian_blur: {
      const PlanarTarget out = next(image_.height, image_.width, image_.channels);
      gaussian_blur(out, image_.view(), blur_spec_of(effect.numbers), scratch_.blur);
      return replace(out);
    }
    case EffectKind::affine:
      return warp<6>(effect, warp_affine);
    case EffectKind::perspective:
      return warp<8>(effect, warp_perspective);
    case EffectKind::elastic:
      return elastic(effect);
    case EffectKind::gaussian_noise:
      add_noise(effect.numbers);
      return scratch_.tables.begin();
    case EffectKind::erase:
      erase_region(effect.numbers);
      return scratch_.tables.begin();
    default:
      return mix(effect);
  }
}

}  // namespace

PlanarTarget run_effects(const PlanarTarget& image, Buffer& memory, std::span<const Effect> effects,
                         EffectScratch& scratch) {
  EffectRun run(image, memory, scratch);
  for (const Effect& effect : effects) run.apply(effect);
  return run.finish();
}

void run_finished_effects(const Output& output, std::span<const Effect> effects) {
  for (const Effect& effect : effects) {
    const Region region = region_of(effect.numbers);
    if (effect.numbers[7] != 0) {
      erase_output_with_noise(output, region, key_of(effect.numbers + 8));
      continue;
    }
    const float value[3] = {static_cast<float>(effect.numbers[4]),
                            static_cast<float>(effect.numbers[5]),
                            static_cast<float>(effect.numbers[6])};
    erase_output(output, region, value);
  }
}

}  // namespace penstock
