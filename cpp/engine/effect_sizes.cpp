#include <cmath>
#include <string>

#include "base/error.h"
#include "engine/effects.h"
#include "kernels/warp/elastic.h"

namespace penstock {
namespace {

constexpr int kLargestSide = 1 << 24;

/// Checks one effect, and complains with its place and kind.
class Checked {
 public:
  Checked(const Effect& effect, size_t place) : effect_(effect), place_(place) {}

  void require(bool fits, const std::string& complaint) const {
    if (fits) return;
    throw Error("Effect " + std::to_string(place_) + " (kind " +
                std::to_string(static_cast<int>(effect_.kind)) + "): " + complaint + ".");
  }

  /// All numbers are finite, and so small that they can be made integers.
  void require_numbers() const {
    for (const double number : effect_.numbers)
      require(std::abs(number) <= 4294967295.0,  // keys are 32-bit words
              "a number is " + std::to_string(number));
  }

  void require_filter(int index) const {
    const double filter = effect_.numbers[index];
    require(filter == 0 || filter == 2 || filter == 3,
            "filter " + std::to_string(filter) + " is not nearest, bilinear or bicubic");
  }

 private:
  const Effect& effect_;
  size_t place_;
};

bool is_warp(EffectKind kind) {
  return kind == EffectKind::affine || kind == EffectKind::perspective;
}

void check_erase(const Checked& checked, const double* numbers, int height, int width) {
  checked.require(numbers[0] >= 0 && numbers[1] >= 0 && numbers[2] >= 0 && numbers[3] >= 0 &&
                      numbers[0] + numbers[2] <= height && numbers[1] + numbers[3] <= width,
                  "the rectangle does not lie in an image of " + std::to_string(height) + "x" +
                      std::to_string(width));
}

void check_blur(const Checked& checked, const double* numbers, int height, int width) {
  const BlurSpec spec = blur_spec_of(numbers);
  checked.require(spec.kernel_height % 2 == 1 && spec.kernel_width % 2 == 1 &&
                      spec.sigma_across > 0 && spec.sigma_down > 0 &&
                      blur_fits(spec, height, width),
                  "a kernel of " + std::to_string(spec.kernel_height) + "x" +
                      std::to_string(spec.kernel_width) + " does not fit the image");
  checked.require(weights_fit(spec), "the weights do not fit the kernel");
}

void check_elastic(const Checked& checked, const double* numbers) {
  checked.require_filter(4);
  checked.require(numbers[2] >= 0 && numbers[2] <= kLargestSigma && numbers[3] >= 0 &&
                      numbers[3] <= kLargestSigma,
                  "sigma is out of range");
}

/// Whether a mix is under way after the effect.
bool check_mix(const Checked& checked, EffectKind kind, bool under_way) {
  const bool begins = kind == EffectKind::mix_begin;
  checked.require(begins != under_way, "effects of a mix are out of order");
  return kind != EffectKind::mix_end;
}

bool is_mix(EffectKind kind) {
  return kind >= EffectKind::mix_begin && kind <= EffectKind::mix_end;
}

}  // namespace

BlurSpec blur_spec_of(const double* numbers) {
  BlurSpec spec;
  spec.kernel_width = static_cast<int>(numbers[0]);
  spec.kernel_height = static_cast<int>(numbers[1]);
  spec.sigma_across = static_cast<float>(numbers[2]);
  spec.sigma_down = static_cast<float>(numbers[3]);
  static_assert(4 + kMostGivenWeights == kEffectNumbers);
  for (int i = 0; i < kMostGivenWeights; ++i) spec.weights[i] = static_cast<float>(numbers[4 + i]);
  return spec;
}

Region size_after_effects(std::span<const Effect> effects, int height, int width) {
  bool mixing = false;
  for (size_t i = 0; i < effects.size(); ++i) {
    const Effect& effect = effects[i];
    const Checked checked(effect, i);
    checked.require(effect.kind >= EffectKind::brightness && effect.kind <= EffectKind::mix_end,
                    "unknown");
    if (!is_warp(effect.kind)) checked.require_numbers();
    switch (effect.kind) {
      case EffectKind::affine:
        checked.require_filter(6);
        break;
      case EffectKind::perspective:
        checked.require_filter(8);
        break;
      case EffectKind::gaussian_blur:
        checked.require(effect.numbers[0] < kLargestSide && effect.numbers[1] < kLargestSide,
                        "the kernel is too large");
        check_blur(checked, effect.numbers, height, width);
        break;
      case EffectKind::erase:
        check_erase(checked, effect.numbers, height, width);
        break;
      case EffectKind::elastic:
        check_elastic(checked, effect.numbers);
        break;
      default:
        break;
    }
    if (is_mix(effect.kind)) mixing = check_mix(checked, effect.kind, mixing);
    checked.require(effect.height >= 1 && effect.width >= 1 && effect.height <= kLargestSide &&
                        effect.width <= kLargestSide,
                    "an image of " + std::to_string(effect.height) + "x" +
                        std::to_string(effect.width) + " is out of range");
    checked.require(is_warp(effect.kind) || (effect.height == height && effect.width == width),
                    "it cannot change an image's size");
    checked.require(!mixing || (effect.height == height && effect.width == width),
                    "an image's size cannot change within a mix");
    height = effect.height;
    width = effect.width;
  }
  if (mixing) throw Error("Effects: a mix has no end.");
  return {0, 0, height, width};
}

}  // namespace penstock
