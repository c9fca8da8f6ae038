#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/effects.h"
#include "guard/case.h"
#include "guard/photo.h"
#include "kernels/mix/mix_batch.h"

namespace penstock::guard {
namespace {

constexpr int kSide = 224, kSlots = 4;
constexpr double kNearest = 0, kBilinear = 2, kBicubic = 3, kBlack = 0;

/// An image and the memory of a worker.
struct Bench {
  std::vector<uint8_t> pixels = make_photo(kSide, kSide);
  Buffer memory;
  PlanarTarget image;
  EffectScratch scratch;

  /// An effect may leave its result elsewhere, and other pixels here.
  void restore() {
    image = working_image(memory, kSide, kSide, 3);
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x)
        for (int c = 0; c < 3; ++c)
          image.row(c, y)[x] = pixels[3 * (size_t{1} * y * kSide + x) + c];
    scratch.tables.begin();
  }
};

/// What turns an image around its middle, from places in the result to places in the source.
std::vector<double> rotation(double degrees, double filter) {
  const double angle = degrees * M_PI / 180, cosine = std::cos(angle), sine = std::sin(angle);
  const double middle = kSide / 2.0;
  return {cosine, sine,   middle - cosine * middle - sine * middle,
          -sine,  cosine, middle + sine * middle - cosine * middle,
          filter, kBlack};
}

/// Slots of a float32 batch that are mixed with each other.
struct MixBench {
  Buffer memory;
  Buffer scratch;
  BatchSlots slots;
  std::vector<Mix> mixes;

  explicit MixBench(MixKind kind) {
    slots.slot_stride = 3 * kSide * kSide * sizeof(float);
    slots.first.data = memory.reserve(kSlots * slots.slot_stride);
    slots.first.row_stride = kSide * sizeof(float);
    slots.first.plane_stride = kSide * slots.first.row_stride;
    slots.first.height = slots.first.width = kSide;
    slots.first.element = Element::float32;
    for (int i = 0; i < kSlots; ++i)
      mixes.push_back({(i + 1) % kSlots, kind, 0.7f, 0.3f, {50, 30, 120, 100}});
  }
  void restore() { std::fill_n(memory.data<float>(), kSlots * 3 * kSide * kSide, 0.25f); }
};

}  // namespace

void add_effect_cases(std::vector<Case>& cases) {
  const auto bench = std::make_shared<Bench>();
  const auto add = [&](const char* name, EffectKind kind, std::vector<double> numbers) {
    Effect effect{kind, 0, kSide, kSide, {}};
    std::ranges::copy(numbers, effect.numbers);
    cases.push_back({name, [bench] { bench->restore(); },
                     [bench, effect] {
                       (void)run_effects(bench->image, bench->memory, {&effect, 1}, bench->scratch);
                     }});
  };
  add("rotate, nearest", EffectKind::affine, rotation(30, kNearest));
  add("rotate, bilinear", EffectKind::affine, rotation(30, kBilinear));
  add("rotate, bicubic", EffectKind::affine, rotation(30, kBicubic));
  add("perspective, bilinear", EffectKind::perspective,
      {1, 0.1, -5, 0.05, 1, -8, 0.0005, 0.0003, kBilinear, kBlack});
  add("elastic, bilinear", EffectKind::elastic, {50, 50, 5, 5, kBilinear, kBlack, 1, 2});
  add("brightness", EffectKind::brightness, {1.4});
  add("contrast", EffectKind::contrast, {1.4});
  add("saturation", EffectKind::saturation, {1.4});
  add("hue", EffectKind::hue, {0.1});
  add("autocontrast", EffectKind::autocontrast, {});
  add("equalize", EffectKind::equalize, {});
  add("sharpness", EffectKind::sharpness, {1.9});
  add("Gaussian blur, 23x23", EffectKind::gaussian_blur, {23, 23, 1.5, 1.5});
  add("Gaussian noise", EffectKind::gaussian_noise, {0, 0.1, 1, 3, 4});
  const auto add_mix = [&](const char* name, MixKind kind) {
    const auto batch = std::make_shared<MixBench>(kind);
    cases.push_back({name, [batch] { batch->restore(); },
                     [batch] { mix_rows(batch->slots, batch->mixes, 0, kSide, batch->scratch); }});
  };
  add_mix("MixUp of 4 images", MixKind::blend);
  add_mix("CutMix of 4 images", MixKind::paste);
}

}  // namespace penstock::guard
