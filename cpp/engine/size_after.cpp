#include <string>

#include "base/error.h"
#include "engine/run_sample.h"
#include "engine/step_parts.h"

namespace penstock {
namespace {

std::string text(const Region& r) {
  return std::to_string(r.height) + "x" + std::to_string(r.width) + " at (" +
         std::to_string(r.top) + ", " + std::to_string(r.left) + ")";
}

bool inside(const Region& r, int height, int width) {
  return r.top >= 0 && r.left >= 0 && r.height >= 1 && r.width >= 1 && r.height <= height &&
         r.width <= width && r.top <= height - r.height && r.left <= width - r.width;
}

constexpr int kLargestSide = 1 << 24;

void require(bool fits, size_t step, const std::string& complaint) {
  if (!fits) throw Error("Step " + std::to_string(step) + ": " + complaint + ".");
}

/// See Step::dct_scale.
void require_reducible(const Step& s, size_t step) {
  const std::string scale = "DCT scale " + std::to_string(s.dct_scale);
  require(s.dct_scale == 2 || s.dct_scale == 4 || s.dct_scale == 8, step,
          scale + " is not 1, 2, 4 or 8");
  require(step == 0 && resizes(s) && static_cast<Filter>(s.filter) != Filter::nearest && !pads(s),
          step, scale + " is only for a first step that resizes smoothly and does not pad");
}

Region size_after_step(const Step& s, size_t i, int height, int width) {
  require(s.pad_left >= 0 && s.pad_top >= 0 && s.pad_right >= 0 && s.pad_bottom >= 0 &&
              s.pad_left <= kLargestSide && s.pad_top <= kLargestSide &&
              s.pad_right <= kLargestSide && s.pad_bottom <= kLargestSide,
          i, "padding must lie between 0 and " + std::to_string(kLargestSide));
  require(s.pad_mode >= 0 && s.pad_mode <= 3, i,
          "padding mode " + std::to_string(s.pad_mode) + " is unknown");
  const int padded_height = height + s.pad_top + s.pad_bottom;
  const int padded_width = width + s.pad_left + s.pad_right;
  require(inside(crop_of(s), padded_height, padded_width), i,
          "crop " + text(crop_of(s)) + " does not lie in an image of " +
              std::to_string(padded_height) + "x" + std::to_string(padded_width));
  int out_height = s.crop_height, out_width = s.crop_width;
  if (resizes(s)) {
    require(s.filter <= 5, i, "filter " + std::to_string(s.filter) + " is unknown");
    require(s.resize_height >= 1 && s.resize_width >= 1 && s.resize_height <= kLargestSide &&
                s.resize_width <= kLargestSide,
            i,
            "cannot resize to " + std::to_string(s.resize_height) + "x" +
                std::to_string(s.resize_width));
    out_height = s.resize_height;
    out_width = s.resize_width;
  }
  require(inside(window_of(s), out_height, out_width), i,
          "window " + text(window_of(s)) + " does not lie in an image of " +
              std::to_string(out_height) + "x" + std::to_string(out_width));
  if (s.dct_scale != 1) require_reducible(s, i);
  return {0, 0, s.window_height, s.window_width};
}

}  // namespace

Region size_after(const Program& program, int height, int width) {
  Region size{0, 0, height, width};
  std::span<const Effect> rest = program.effects;
  const auto follow = [&](int32_t step) {
    size_t count = 0;
    while (count < rest.size() && rest[count].after_step == step) ++count;
    size = size_after_effects(rest.first(count), size.height, size.width);
    rest = rest.subspan(count);
  };
  for (size_t i = 0; i < program.steps.size(); ++i) {
    size = size_after_step(program.steps[i], i, size.height, size.width);
    follow(static_cast<int32_t>(i));
  }
  for (const Effect& effect : rest)
    if (effect.after_step != kFinished || effect.kind != EffectKind::erase)
      throw Error("Effects: one after step " + std::to_string(effect.after_step) +
                  " is out of order, or cannot change a finished image.");
  follow(kFinished);
  return size;
}

}  // namespace penstock
