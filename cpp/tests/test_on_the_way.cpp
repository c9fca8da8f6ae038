// What the pass that writes a step's result does beside it gives what it would give on its own.
#include <cmath>
#include <cstring>
#include <vector>

#include "base/cpu.h"
#include "effect_programs.h"
#include "engine/on_the_way.h"
#include "kernels/warp/nearest_paths.h"
#include "kernels/warp/warp_scalar.h"
#include "random_image.h"

namespace penstock {
namespace {

constexpr double kNearest = 0, kBilinear = 2;

/// Moves an image down by whole pixels, and across by whole pixels and a share of the row's number.
std::vector<double> moved(double down, double across, double slope, double filter, double fill) {
  return {1, slope, across, 0, 1, down, filter, fill};
}

double some_filter(Draw& draw) { return draw.coin() ? kNearest : kBilinear; }
double some_fill(Draw& draw) { return draw.coin() ? 0 : draw.between(0, 0xFFFFFF); }

std::vector<double> some_move(Draw& draw, int height, int width) {
  const double down = draw.coin() ? 0 : draw.between(-height - 1, height + 1);
  const double across = draw.coin() ? 0 : draw.between(-width - 1, width + 1);
  const double slope = draw.coin() ? 0 : draw.between(-999, 999) / 500.0;
  return moved(down, across, slope, some_filter(draw), some_fill(draw));
}

/// A crop that may be resized, cut and mirrored.
Step some_step(Draw& draw, int height, int width) {
  Step step = whole(height, width);
  step.crop_top = draw.between(0, height - 1);
  step.crop_left = draw.between(0, width - 1);
  step.crop_height = draw.between(1, height - step.crop_top);
  step.crop_width = draw.between(1, width - step.crop_left);
  step.resize_height = step.crop_height;
  step.resize_width = step.crop_width;
  if (draw.coin()) {
    step.filter = draw.coin() ? 2 : 0;
    step.resize_height = draw.between(1, 90);
    step.resize_width = draw.coin() ? 64 : draw.between(1, 90);
    step.vertical_first = draw.coin();
  }
  step.window_height = step.resize_height;
  step.window_width = step.resize_width;
  if (step.resizes() && draw.coin()) {
    step.window_top = draw.between(0, step.resize_height - 1);
    step.window_height = draw.between(1, step.resize_height - step.window_top);
  }
  step.flip_horizontal = draw.coin();
  step.flip_vertical = draw.coin();
  step.gray = draw.between(0, 3) == 0;
  if (draw.between(0, 3) == 0 && !step.resizes()) {
    step.pad_left = 2;
    step.crop_left = 0;
    step.crop_width = step.resize_width = step.window_width = width + 2;
  }
  return step;
}

/// An effect for an image of this size, mostly one that is done on the way.
Effect some_effect(Draw& draw, int height, int width) {
  const auto make = [&](EffectKind kind, std::vector<double> numbers) {
    return effect_of(kind, height, width, std::move(numbers));
  };
  switch (draw.between(0, 9)) {
    case 0:
      return waiting(make(EffectKind::invert, {}));
    case 1:
      return waiting(make(EffectKind::posterize, {draw.between(1, 8) * 1.0}));
    case 2:
      return make(EffectKind::solarize, {draw.between(0, 256) * 1.0});
    case 3:
      return waiting(make(EffectKind::equalize, {}));
    case 4:
      return make(EffectKind::saturation, {0.5});
    case 5:
      return make(EffectKind::affine, {0.9, 0.1, 1, -0.1, 0.9, 2, some_filter(draw), 7});
    default:
      return make(EffectKind::affine, some_move(draw, height, width));
  }
}

TEST(effects_on_the_way_change_no_result) {
  WorkerScratch scratch;
  int placed = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 60), width = draw.between(1, 90);
    const Step step = some_step(draw, height, width);
    std::vector<Effect> effects;
    for (int times = draw.between(1, 3); times > 0; --times)
      effects.push_back(some_effect(draw, step.window_height, step.window_width));
    PendingTables tables;
    tables.begin();
    placed += take_on_the_way(step, effects, 3, true, tables).is_placed;
    // Does nothing, but cannot be done on the way, and so nothing behind it is.
    const Effect blocker =
        effect_of(EffectKind::saturation, step.window_height, step.window_width, {1});
    std::vector<Effect> apart = effects;
    apart.insert(apart.begin(), blocker);
    in_every_variant([&] {
      CHECK(run_same({{&step, 1}, effects}, height, width, scratch) ==
            run_same({{&step, 1}, apart}, height, width, scratch));
    });
  }
  CHECK(placed > 300);
}

// A later step may crop only, and then writes nothing, or mirror; tables of the first may wait.
TEST(effects_on_the_way_of_later_steps_change_no_result) {
  constexpr int kHeight = 40, kWidth = 90, kLow = 30, kNarrow = 64;
  WorkerScratch scratch;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    Step steps[3] = {whole(kHeight, kWidth), whole(kLow, kNarrow), whole(kLow, kNarrow)};
    steps[1].crop_top = 4, steps[1].crop_left = 9;
    steps[1].flip_horizontal = draw.coin();
    steps[2].flip_vertical = draw.coin();
    std::vector<Effect> effects, apart;
    for (int i = 0; i < 3; ++i) {
      const int height = i == 0 ? kHeight : kLow, width = i == 0 ? kWidth : kNarrow;
      apart.push_back(effect_of(EffectKind::saturation, height, width, {1}, i));
      for (int times = draw.between(0, 2); times > 0; --times) {
        effects.push_back(some_effect(draw, height, width));
        effects.back().after_step = i;
        apart.push_back(effects.back());
      }
    }
    CHECK(run_same({steps, effects}, kHeight, kWidth, scratch) ==
          run_same({steps, apart}, kHeight, kWidth, scratch));
  }
}

TEST(rows_move_as_the_warp_says) {
  int found = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 30), width = draw.between(1, 40);
    std::vector<double> numbers = some_move(draw, height, width);
    // Some are a little beside, as matrices are that angles were made of; others far.
    for (const int i : {0, 2, 3, 4, 5})
      if (draw.between(0, 5) == 0) numbers[i] += draw.between(-9, 9) * (draw.coin() ? 1e-9 : 1e-3);
    if (draw.between(0, 20) == 0) numbers[draw.between(0, 5)] = draw.coin() ? NAN : 1e9;
    double matrix[6];
    std::copy_n(numbers.begin(), 6, matrix);
    const auto filter = static_cast<Filter>(static_cast<int>(numbers[6]));
    RowMove move;
    if (!find_row_move(move, matrix, filter, height, width)) continue;
    ++found;
    const SlackImage image(RandomImage(draw, height, width, 1));
    const SlackImage result(height, width, 1);
    const uint8_t fill[3] = {77, 77, 77};
    warp_affine_scalar(result.image, image.image.view(),
                       whole_frame(result.image, image.image.view()), matrix, filter, fill);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int from_y = y + move.down, from_x = x + move.across(y);
        const bool is_there = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        CHECK(result.image.row(0, y)[x] == (is_there ? image.image.row(0, from_y)[from_x] : 77));
      }
  }
  CHECK(found > 300);
}

// What is moved out of sight is not even read.
TEST(less_is_read_of_what_moves_out_of_sight) {
  Step step = whole(40, 50);
  step.filter = 2;
  step.flip_horizontal = 1;
  PendingTables tables;
  tables.begin();
  const Effect effect = effect_of(EffectKind::affine, 40, 50, moved(10, -20, 0, kNearest, 0));
  const OnTheWay way = take_on_the_way(step, {&effect, 1}, 3, true, tables);
  CHECK(way.count == 1 && way.is_placed);
  CHECK(way.step.window() == (Region{10, 20, 30, 30}));
  CHECK(take_on_the_way(step, {&effect, 1}, 3, false, tables).count == 0);
  const Effect away = effect_of(EffectKind::affine, 40, 50, moved(40, 0, 0, kNearest, 0));
  CHECK(take_on_the_way(step, {&away, 1}, 3, true, tables).count == 0);
  const Effect red = effect_of(EffectKind::affine, 40, 50, moved(1, 0, 0, kNearest, 0xFF));
  CHECK(take_on_the_way(step, {&red, 1}, 3, true, tables).count == 1);
  CHECK(take_on_the_way(step, {&red, 1}, 1, true, tables).count == 0);
}

}  // namespace
}  // namespace penstock
