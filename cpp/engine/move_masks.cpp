#include "engine/move_masks.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "kernels/mask/mask_map.h"
#include "kernels/pad.h"
#include "kernels/resample/placement.h"

namespace penstock {
namespace {

/// One axis of a step: pad, take a part, resize it, take a part of that, mirror.
struct AxisStep {
  int pad_before, pad_mode;
  int crop_first, crop_count;
  int resized;  // samples after the resize; 0: none
  int first, count;
  bool mirrored;
};

AxisStep rows_of(const Step& s) {
  return {s.pad_top,
          s.pad_mode,
          s.crop_top,
          s.crop_height,
          s.resizes() ? s.resize_height : 0,
          s.window_top,
          s.window_height,
          s.flip_vertical != 0};
}

AxisStep columns_of(const Step& s) {
  return {s.pad_left,
          s.pad_mode,
          s.crop_left,
          s.crop_width,
          s.resizes() ? s.resize_width : 0,
          s.window_left,
          s.window_width,
          s.flip_horizontal != 0};
}

/// Follows an axis through a step. `places` says where its samples come from, before and after.
void follow(std::vector<int32_t>& places, std::vector<int32_t>& spare, const AxisStep& step) {
  const auto size = static_cast<int>(places.size());
  const auto count = static_cast<size_t>(step.count);
  spare.resize(count);
  if (step.resized > 0) {
    std::vector<Span> lists(count);
    place_lists(lists.data(), {step.crop_count, 0, static_cast<float>(step.crop_count),
                               step.resized, step.first, step.count, Filter::nearest, false});
    for (size_t i = 0; i < count; ++i) spare[i] = lists[i].begin;
  } else {
    for (size_t i = 0; i < count; ++i) spare[i] = step.first + static_cast<int32_t>(i);
  }
  for (int32_t& place : spare) {
    const int source = padded_source(step.crop_first + place - step.pad_before, size,
                                     static_cast<PadMode>(step.pad_mode));
    place = source == kPadOutside ? kMaskOutside : places[static_cast<size_t>(source)];
  }
  if (step.mirrored) std::reverse(spare.begin(), spare.end());
  places.swap(spare);
}

void count_up(std::vector<int32_t>& places, int size) {
  places.resize(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) places[static_cast<size_t>(i)] = i;
}

/// What is written into the pixels of an image that is warped to learn where they go: 24 bits.
constexpr int64_t kMostCounted = (1 << 24) - 2;

/// Makes 0, the number that stands for the outside, the colour that a warp fills with.
struct FillByNothing {
  Effect& effect;

  template <EffectKind kKind>
  void operator()(const Parameters<kKind>& given) const {
    if constexpr (family_of(kKind) == EffectFamily::warp) {
      if (given.filter != 0) throw Error("Masks are warped by the nearest pixel only.");
      Parameters<kKind> changed = given;
      changed.fill = 0;
      write_parameters<kKind>(effect.numbers, changed);
    } else {
      throw Error("Masks do not follow effects of kind " + std::to_string(static_cast<int>(kKind)) +
                  ".");
    }
  }
};

class MapMaker {
 public:
  MapMaker(int height, int width, MaskScratch& scratch)
      : scratch_(scratch), in_height_(height), in_width_(width) {
    scratch_.pixels.clear();
    begin_axes(height, width);
  }

  void step(const Step& step) {
    if (step.resizes() && static_cast<Filter>(step.filter) != Filter::nearest)
      throw Error("Masks are resized by the nearest pixel only.");
    follow(scratch_.rows, scratch_.spare, rows_of(step));
    follow(scratch_.columns, scratch_.spare, columns_of(step));
    if (by_pixel_) look_up_axes();
  }

  void warp(std::span<const Effect> effects) {
    scratch_.effects.assign(effects.begin(), effects.end());
    for (Effect& effect : scratch_.effects)
      visit_effect(effect.kind, effect.numbers, FillByNothing{effect});
    if (!by_pixel_) to_pixels();
    const int height = rows(), width = columns();
    if (int64_t{height} * width <= kMostCounted) {
      const PlanarTarget moved =
          warp_numbers([&](int y, int x) { return int64_t{y} * width + x + 1; });
      take(moved, [&](int y, int x) { return number_at(moved, y, x) - 1; });
    } else {
      warp_large(height, width);
    }
  }

  MaskMap finish() const {
    MaskMap map{in_height_, in_width_, rows(), columns(), scratch_.rows, scratch_.columns, {}};
    if (by_pixel_) map.pixels = scratch_.pixels;
    return map;
  }

 private:
  int rows() const { return static_cast<int>(scratch_.rows.size()); }
  int columns() const { return static_cast<int>(scratch_.columns.size()); }

  void begin_axes(int height, int width) {
    count_up(scratch_.rows, height);
    count_up(scratch_.columns, width);
  }

  /// From axes to pixels; the axes then count the pixels of the present map.
  void to_pixels() {
    if (int64_t{in_height_} * in_width_ > std::numeric_limits<int32_t>::max())
      throw Error("Masks of " + std::to_string(in_height_) + "x" + std::to_string(in_width_) +
                  " are too large to be warped.");
    scratch_.pixels.resize(scratch_.rows.size() * scratch_.columns.size());
    int32_t* pixel = scratch_.pixels.data();
    for (const int32_t row : scratch_.rows)
      for (const int32_t column : scratch_.columns)
        *pixel++ =
            row == kMaskOutside || column == kMaskOutside ? kMaskOutside : row * in_width_ + column;
    by_pixel_ = true;
    width_ = columns();
    begin_axes(rows(), columns());
  }

  /// Applies axes that count the pixels of the present map.
  void look_up_axes() {
    std::vector<int32_t>& next = scratch_.spare;
    next.resize(scratch_.rows.size() * scratch_.columns.size());
    int32_t* pixel = next.data();
    for (const int32_t row : scratch_.rows)
      for (const int32_t column : scratch_.columns)
        *pixel++ = row == kMaskOutside || column == kMaskOutside
                       ? kMaskOutside
                       : scratch_.pixels[static_cast<size_t>(row) * static_cast<size_t>(width_) +
                                         static_cast<size_t>(column)];
    scratch_.pixels.swap(next);
    width_ = columns();
    begin_axes(rows(), columns());
  }

  /// Warps an image whose pixels are the numbers that `number` gives them; 0 comes from outside.
  template <class Number>
  PlanarTarget warp_numbers(Number number) {
    const PlanarTarget image = working_image(scratch_.image, rows(), columns(), 3);
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        const int64_t value = number(y, x);
        for (int c = 0; c < 3; ++c) image.row(c, y)[x] = static_cast<uint8_t>(value >> (8 * c));
      }
    return run_effects(image, scratch_.image, scratch_.effects, scratch_.effect);
  }

  static int64_t number_at(const PlanarTarget& image, int y, int x) {
    return image.row(0, y)[x] | image.row(1, y)[x] << 8 | image.row(2, y)[x] << 16;
  }

  /// Makes the map that of `moved`, whose pixel (y, x) is pixel `from(y, x)` of the present map,
  /// or from outside if that is below 0.
  template <class From>
  void take(const PlanarTarget& moved, From from) {
    std::vector<int32_t>& next = scratch_.spare;
    next.resize(static_cast<size_t>(moved.height) * static_cast<size_t>(moved.width));
    int32_t* pixel = next.data();
    for (int y = 0; y < moved.height; ++y)
      for (int x = 0; x < moved.width; ++x) {
        const int64_t place = from(y, x);
        *pixel++ = place < 0 ? kMaskOutside : scratch_.pixels[static_cast<size_t>(place)];
      }
    scratch_.pixels.swap(next);
    width_ = moved.width;
    begin_axes(moved.height, moved.width);
  }

  /// An image with more pixels than its colours can count: its rows are counted, then its columns.
  void warp_large(int height, int width) {
    if (height > kMostCounted || width > kMostCounted)
      throw Error("Masks of " + std::to_string(height) + "x" + std::to_string(width) +
                  " are too large to be warped.");
    const PlanarTarget by_row = warp_numbers([](int y, int) { return int64_t{y} + 1; });
    std::vector<int64_t> starts(static_cast<size_t>(by_row.height) *
                                static_cast<size_t>(by_row.width));
    size_t at = 0;
    for (int y = 0; y < by_row.height; ++y)
      for (int x = 0; x < by_row.width; ++x) starts[at++] = (number_at(by_row, y, x) - 1) * width;
    const PlanarTarget moved = warp_numbers([](int, int x) { return int64_t{x} + 1; });
    take(moved, [&](int y, int x) {
      const int64_t start = starts[static_cast<size_t>(y) * static_cast<size_t>(moved.width) +
                                   static_cast<size_t>(x)];
      return start < 0 ? int64_t{-1} : start + number_at(moved, y, x) - 1;
    });
  }

  MaskScratch& scratch_;
  int in_height_, in_width_;
  bool by_pixel_ = false;
  int width_ = 0;  // of the map in scratch_.pixels
};

template <class Value>
void gather(const MaskWork& work, const MaskMap& map) {
  const size_t in = static_cast<size_t>(map.in_height) * static_cast<size_t>(map.in_width);
  auto* out = static_cast<Value*>(work.out);
  for (const int32_t number : work.numbers) {
    const Value* mask =
        static_cast<const Value*>(work.source.stack) + in * static_cast<size_t>(number);
    gather_mask<Value>(out, mask, map, static_cast<Value>(work.fill));
    out += static_cast<size_t>(map.height) * static_cast<size_t>(map.width);
  }
}

}  // namespace

MaskMap make_mask_map(const Program& program, int height, int width, MaskScratch& scratch) {
  size_after(program, height, width);  // checks steps and effects
  MapMaker maker(height, width, scratch);
  EffectQueue queue(program.effects);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    maker.step(program.steps[i]);
    const auto effects = queue.take(static_cast<int32_t>(i));
    if (!effects.empty()) maker.warp(effects);
  }
  return maker.finish();
}

void move_masks(const MaskWork& work, MaskScratch& scratch) {
  MaskSource source = work.source;
  RunMasks masks;
  if (!source.runs.empty()) {
    masks = RunMasks::read(source.runs);
    source.count = masks.count;
    source.height = masks.height;
    source.width = masks.width;
  }
  const MaskMap map = make_mask_map(work.program, source.height, source.width, scratch);
  if (map.height != work.out_height || map.width != work.out_width)
    throw Error("its masks are " + std::to_string(map.height) + "x" + std::to_string(map.width) +
                " after the transforms where its image is " + std::to_string(work.out_height) +
                "x" + std::to_string(work.out_width));
  for (const int32_t number : work.numbers)
    if (number < 0 || number >= source.count)
      throw Error("mask " + std::to_string(number) + " of " + std::to_string(source.count));
  if (!source.runs.empty()) {
    scratch.drawer.begin(map);
    auto* out = static_cast<uint8_t*>(work.out);
    for (const int32_t number : work.numbers) {
      scratch.drawer.draw(out, masks.of(number));
      out += static_cast<size_t>(map.height) * static_cast<size_t>(map.width);
    }
  } else if (source.value_bytes == 1) {
    gather<uint8_t>(work, map);
  } else {
    gather<uint16_t>(work, map);
  }
}

}  // namespace penstock
