// Programs with effects: all kinds in any order on odd images, and numbers that make no sense.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "base/error.h"
#include "effect_programs.h"
#include "kernels/tensor/levels.h"

using namespace penstock;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// One of every kind that may stand alone, with numbers drawn at random. Kinds that are not named
/// here take numbers between 0 and 1.
std::vector<Effect> one_of_each(std::mt19937& random, int height, int width) {
  const auto unit = [&] { return std::uniform_real_distribution<>(0, 1)(random); };
  const double fill = static_cast<double>(random() & 0xFFFFFF);
  const auto filter = [&] { return std::vector<double>{0, 2, 3}[random() % 3]; };
  const auto kernel = [&](int side) { return 2.0 * (random() % ((side + 1) / 2)) + 1; };
  const double key = static_cast<double>(random());
  std::vector<Effect> effects;
  const auto add = [&](EffectKind kind, std::vector<double> numbers) {
    effects.push_back(effect_of(kind, height, width, std::move(numbers)));
  };
  for (const auto kind : {EffectKind::brightness, EffectKind::contrast, EffectKind::saturation,
                          EffectKind::sharpness})
    add(kind, {3 * unit()});
  add(EffectKind::hue, {unit() - 0.5});
  add(EffectKind::posterize, {static_cast<double>(random() % 9)});
  add(EffectKind::solarize, {256 * unit()});
  add(EffectKind::solarize_add, {110 * unit(), 128});
  for (const auto kind : {EffectKind::invert, EffectKind::autocontrast, EffectKind::equalize})
    add(kind, {});
  if (random() % 4 == 0) add(EffectKind::grayscale, {});  // after which nothing has colour
  add(EffectKind::permute_channels, {2, 0, 1});
  add(EffectKind::affine, {1 + unit(), unit(), -5 * unit(), unit(), 1, 3, filter(), fill});
  add(EffectKind::perspective, {1, unit(), 0, 0, 1, 0, unit() / 50, unit() / 50, filter(), fill});
  add(EffectKind::gaussian_blur, {kernel(width), kernel(height), 0.1 + unit(), 0.1 + unit()});
  add(EffectKind::box_blur, {3 * unit(), 3 * unit(), 1.0 + static_cast<double>(random() % 3)});
  add(EffectKind::gaussian_noise, {0, unit() / 5, 1, key, key});
  const double rows = static_cast<double>(random() % static_cast<unsigned>(height + 1));
  const double columns = static_cast<double>(random() % static_cast<unsigned>(width + 1));
  add(EffectKind::erase, {height - rows, width - columns, rows, columns, 300, 0, -4,
                          static_cast<double>(random() % 2), key, key});
  add(EffectKind::elastic,
      {20 * unit(), 20 * unit(), unit(), 3 * unit(), filter(), fill, key, key});
  for (const EffectEntry& entry : effect_table()) {
    const bool is_there = std::ranges::any_of(
        effects, [&](const Effect& effect) { return effect.kind == entry.kind; });
    if (is_there || entry.family == EffectFamily::none || entry.family == EffectFamily::mix ||
        entry.kind == EffectKind::grayscale)
      continue;
    std::vector<double> numbers;
    for (const auto& parameter : entry.parameters)
      for (int i = 0; i < parameter.count; ++i) numbers.push_back(unit());
    add(entry.kind, numbers);
  }
  std::shuffle(effects.begin(), effects.end(), random);
  return effects;
}

TEST(effects_in_any_order_on_odd_images) {
  std::mt19937 random(7);
  WorkerScratch scratch;
  const int sides[] = {1, 2, 3, 7, 16, 31, 33, 64, 65, 100};
  for (int round = 0; round < 60; ++round) {
    const int height = sides[random() % 10], width = sides[random() % 10];
    std::vector<Effect> effects = one_of_each(random, height, width);
    effects.push_back(
        effect_of(EffectKind::erase, height, width, {0, 0, 1, 1, 0.5, 0, 9}, kFinished));
    const Step step = whole(height, width);
    run(random, {{&step, 1}, effects}, height, width, scratch);
  }
}

TEST(effects_between_steps_and_larger_images) {
  std::mt19937 random(8);
  WorkerScratch scratch;
  const Effect grow = effect_of(EffectKind::affine, 90, 70, {0.5, 0.1, 3, 0, 0.7, 1, 2, 7});
  Step steps[2] = {whole(40, 50), whole(90, 70)};
  steps[1].crop_top = 5, steps[1].crop_height = steps[1].window_height = 80;
  Effect last = effect_of(EffectKind::sharpness, 80, 70, {2}, 1);
  const Effect effects[] = {grow, effect_of(EffectKind::equalize, 90, 70, {}), last};
  CHECK(run(random, {steps, effects}, 40, 50, scratch).size() == 80 * 70 * 3 + 2);
}

TEST(a_mix_is_the_sum_of_its_chains) {
  std::mt19937 random(9);
  WorkerScratch scratch;
  const Step step = whole(20, 30);
  const Effect effects[] = {
      effect_of(EffectKind::mix_begin, 20, 30, {0.25}),
      effect_of(EffectKind::invert, 20, 30, {}),
      effect_of(EffectKind::mix_add, 20, 30, {0.25}),
      effect_of(EffectKind::affine, 20, 30, {1, 0, 3, 0, 1, 0, 0, 0}),
      effect_of(EffectKind::mix_add, 20, 30, {0.5}),
      effect_of(EffectKind::mix_end, 20, 30, {}),
  };
  run(random, {{&step, 1}, effects}, 20, 30, scratch);
}

/// Whatever a chain does, in place or not, the next one begins with the image as it was.
TEST(a_chain_of_a_mix_leaves_the_image_to_the_next) {
  constexpr int kHeight = 20, kWidth = 70;
  std::mt19937 random(10);
  WorkerScratch scratch;
  const Step step = whole(kHeight, kWidth);
  const auto run_all = [&](const std::vector<Effect>& effects) {
    std::mt19937 same(11);
    return run(same, {{&step, 1}, effects}, kHeight, kWidth, scratch);
  };
  const auto mix = [](EffectKind kind, double weight) {
    return effect_of(kind, kHeight, kWidth, {weight});
  };
  const Effect begin = mix(EffectKind::mix_begin, 0), end = mix(EffectKind::mix_end, 0);
  const Effect invert = effect_of(EffectKind::invert, kHeight, kWidth, {});
  for (int round = 0; round < 4; ++round)
    for (const Effect& effect : one_of_each(random, kHeight, kWidth)) {
      const std::vector<Effect> chain = {invert, effect};
      const Effect nothing = mix(EffectKind::mix_add, 0), all = mix(EffectKind::mix_add, 1);
      CHECK(run_all({begin, effect, nothing, all, end}) == run_all({}));
      CHECK(run_all({begin, invert, effect, nothing, effect, all, end}) == run_all({effect}));
      CHECK(run_all({begin, effect, nothing, invert, effect, all, end}) == run_all(chain));
    }
}

std::vector<Effect> all_waiting(std::vector<Effect> effects) {
  for (Effect& effect : effects) effect.waits = can_wait(effect.kind);
  return effects;
}

/// Together or one after the other, also where a mix remembers the image.
TEST(waiting_changes_no_result) {
  constexpr int kHeight = 21, kWidth = 75;
  std::mt19937 random(13);
  WorkerScratch scratch;
  const Step step = whole(kHeight, kWidth);
  for (int round = 0; round < 60; ++round) {
    std::vector<Effect> at_once = one_of_each(random, kHeight, kWidth);
    if (round % 3 == 0)
      at_once.insert(at_once.begin(), effect_of(EffectKind::grayscale, kHeight, kWidth, {}));
    if (round % 2 == 0) {
      at_once.insert(at_once.begin() + 4, effect_of(EffectKind::mix_begin, kHeight, kWidth, {0.5}));
      at_once.push_back(effect_of(EffectKind::mix_add, kHeight, kWidth, {0.5}));
      at_once.push_back(effect_of(EffectKind::mix_end, kHeight, kWidth, {}));
    }
    CHECK(run_same({{&step, 1}, at_once}, kHeight, kWidth, scratch) ==
          run_same({{&step, 1}, all_waiting(at_once)}, kHeight, kWidth, scratch));
  }
}

/// Up to the final pass, beside which the next sample runs, through warps, and with fixed tables
/// alone, which need no image between a step and the final pass.
TEST(waiting_until_the_end_changes_no_result) {
  std::mt19937 random(15);
  WorkerScratch scratch;
  const auto unit = [&] { return std::uniform_real_distribution<>(0, 1)(random); };
  for (int round = 0; round < 300; ++round) {
    const int height = 1 + static_cast<int>(random() % 40);
    const int width = round % 2 == 0 ? 64 : 1 + static_cast<int>(random() % 90);
    std::vector<Effect> at_once;
    const auto add = [&](EffectKind kind, std::vector<double> numbers) {
      at_once.push_back(effect_of(kind, height, width, std::move(numbers)));
    };
    if (round % 5 == 0) add(EffectKind::grayscale, {});
    for (int times = static_cast<int>(random() % 5); times >= 0; --times) {
      const double fill = random() % 2 == 0 ? 0 : static_cast<double>(random() & 0xFFFFFF);
      switch (random() % (round % 3 == 0 ? 4 : 9)) {
        case 0:
          add(EffectKind::brightness, {2 * unit()});
          break;
        case 1:
          add(EffectKind::posterize, {static_cast<double>(random() % 9)});
          break;
        case 2:
          add(EffectKind::solarize, {256 * unit()});
          break;
        case 3:
          add(EffectKind::invert, {});
          break;
        case 4:
          add(EffectKind::equalize, {});
          break;
        case 5:
          add(EffectKind::contrast, {2 * unit()});
          break;
        case 6:
          add(EffectKind::permute_channels, {2, 0, 1});
          break;
        case 7:
          add(EffectKind::affine, {1, unit(), -3, unit(), 1, 2, 0, fill});
          break;
        case 8:
          add(EffectKind::perspective, {1, unit(), 0, 0, 1, 0, 0, 0.001, 0, fill});
          break;
      }
    }
    Step step = whole(height, width);
    if (round % 4 == 0) {
      step.filter = 2, step.pad_left = 3, step.pad_fill = 0x123456;
      step.crop_width = width + 3;
    }
    CHECK(run_same({{&step, 1}, at_once}, height, width, scratch) ==
          run_same({{&step, 1}, all_waiting(at_once)}, height, width, scratch));
  }
}

std::vector<Effect> counting_early(std::vector<Effect> effects) {
  for (Effect& effect : effects) effect.counts_early = effect.kind == EffectKind::autocontrast;
  return effects;
}

/// By any pass, in any order of effects, where tables wait and where a mix remembers the image.
TEST(counting_early_changes_no_result) {
  std::mt19937 random(14);
  WorkerScratch scratch;
  for (const auto& [height, width] : {std::pair{1, 1}, {21, 75}, {3, 1000}, {700, 2}}) {
    const Step step = whole(height, width);
    for (int round = 0; round < 40; ++round) {
      std::vector<Effect> late = one_of_each(random, height, width);
      for (int times = 0; times < 6; ++times)
        late.insert(late.begin() + static_cast<ptrdiff_t>(random() % late.size()),
                    effect_of(EffectKind::autocontrast, height, width, {}));
      if (round % 3 == 0)
        late.insert(late.begin(), effect_of(EffectKind::grayscale, height, width, {}));
      if (round % 2 == 0) {
        late.insert(late.begin() + 4, effect_of(EffectKind::mix_begin, height, width, {0.5}));
        late.push_back(effect_of(EffectKind::mix_add, height, width, {0.5}));
        late.push_back(effect_of(EffectKind::mix_end, height, width, {}));
      }
      for (Effect& effect : late) effect.waits = random() % 2 == 0 && can_wait(effect.kind);
      CHECK(run_same({{&step, 1}, late}, height, width, scratch) ==
            run_same({{&step, 1}, counting_early(late)}, height, width, scratch));
    }
  }
}

/// A step pads, resizes, mirrors or crops, of which crops write nothing.
TEST(steps_count_early) {
  constexpr int kHeight = 30, kWidth = 90;
  WorkerScratch scratch;
  Step first = whole(kHeight, kWidth);
  first.pad_left = 5, first.pad_top = 2, first.pad_fill = 0x123456;
  first.crop_width = kWidth + 5, first.crop_height = kHeight + 2;
  first.filter = 2;
  first.resize_height = first.window_height = 333;
  first.resize_width = first.window_width = 7;
  first.flip_vertical = 1;
  Step crop = whole(333, 7), mirror = whole(100, 3);
  crop.crop_top = 20, crop.crop_left = 2;
  crop.crop_height = crop.resize_height = crop.window_height = 100;
  crop.crop_width = crop.resize_width = crop.window_width = 3;
  mirror.flip_horizontal = 1;
  Step steps[] = {first, crop, mirror};
  for (const bool gray : {false, true})
    for (const bool waits : {false, true}) {
      steps[0].gray = gray;
      std::vector<Effect> late = {effect_of(EffectKind::autocontrast, 333, 7, {}, 0),
                                  effect_of(EffectKind::autocontrast, 100, 3, {}, 1),
                                  effect_of(EffectKind::autocontrast, 100, 3, {}, 2)};
      late[0].waits = late[1].waits = waits;
      CHECK(run_same({steps, late}, kHeight, kWidth, scratch) ==
            run_same({steps, counting_early(late)}, kHeight, kWidth, scratch));
    }
}

/// Statistics are those of the whole image; the table meets the pixels behind the crop.
TEST(tables_wait_beyond_steps) {
  constexpr int kHeight = 30, kWidth = 90;
  WorkerScratch scratch;
  Step steps[3] = {whole(kHeight, kWidth), whole(kHeight, kWidth), whole(11, 70)};
  steps[1].crop_top = 7, steps[1].crop_height = steps[1].resize_height = 11;
  steps[1].crop_left = 3, steps[1].crop_width = steps[1].resize_width = 70;
  steps[1].window_height = 11, steps[1].window_width = 70;
  steps[1].flip_vertical = 1;
  steps[2].flip_horizontal = 1;
  const auto before = [](EffectKind kind, std::vector<double> numbers) {
    return effect_of(kind, kHeight, kWidth, std::move(numbers));
  };
  const auto after = [](EffectKind kind, std::vector<double> numbers, int step) {
    return effect_of(kind, 11, 70, std::move(numbers), step);
  };
  for (const bool gray : {false, true})
    for (const auto& effect :
         {before(EffectKind::contrast, {0.4}), before(EffectKind::autocontrast, {}),
          before(EffectKind::equalize, {}), before(EffectKind::brightness, {0.7})}) {
      steps[0].gray = gray;
      const Effect order = before(EffectKind::permute_channels, {1, 2, 0});
      const Effect first[] = {order, effect}, last[] = {waiting(order), waiting(effect)};
      for (const int border : {0, 2})
        for (const int filter : {-1, 2}) {
          Step others[3] = {steps[0], steps[1], steps[2]};
          others[2].pad_left = border, others[2].crop_width += border;
          others[2].filter = filter;
          if (filter < 0) others[2].resize_width = others[2].window_width = 70 + border;
          CHECK(run_same({others, first}, kHeight, kWidth, scratch) ==
                run_same({others, last}, kHeight, kWidth, scratch));
        }
      // What follows counts the pixels that are left.
      for (const auto kind : {EffectKind::equalize, EffectKind::saturation}) {
        const Effect next = after(kind, {0}, 1);
        const Effect at_once[] = {effect, next}, waits[] = {waiting(effect), next};
        CHECK(run_same({steps, at_once}, kHeight, kWidth, scratch) ==
              run_same({steps, waits}, kHeight, kWidth, scratch));
      }
    }
}

/// Gray before a step, and gray of the image as it is.
TEST(gray_comes_before_the_first_step) {
  constexpr int kHeight = 30, kWidth = 90;
  WorkerScratch scratch;
  Step steps[2] = {whole(kHeight, kWidth), whole(kHeight, kWidth)};
  steps[1].filter = 2;
  steps[1].resize_height = steps[1].window_height = 13;
  Step gray = steps[1];
  gray.gray = 1;
  const Effect turn = effect_of(EffectKind::grayscale, kHeight, kWidth, {});
  CHECK(run_same({steps, {&turn, 1}}, kHeight, kWidth, scratch) ==
        run_same({{&gray, 1}, {}}, kHeight, kWidth, scratch));
}

bool refused(std::span<const Step> steps, std::vector<Effect> effects) {
  try {
    size_after({steps, effects}, 10, 20);
  } catch (const Error&) {
    return true;
  }
  return false;
}

TEST(only_extremes_are_found_early) {
  const Step step = whole(10, 20);
  for (const auto kind : {EffectKind::brightness, EffectKind::autocontrast, EffectKind::equalize}) {
    Effect effect = effect_of(kind, 10, 20, {1});
    effect.counts_early = true;
    CHECK(refused({&step, 1}, {effect}) == (kind != EffectKind::autocontrast));
  }
}

TEST(effects_that_cannot_wait_are_refused) {
  const auto one = [](EffectKind kind, int step = 0, std::vector<double> numbers = {}) {
    return effect_of(kind, 10, 20, std::move(numbers), step);
  };
  Step steps[2] = {whole(10, 20), whole(10, 20)};
  CHECK(!refused(steps, {waiting(one(EffectKind::invert))}));
  CHECK(!refused(steps, {waiting(one(EffectKind::invert)), one(EffectKind::hue, 1)}));
  CHECK(refused(steps, {waiting(one(EffectKind::hue))}));
  CHECK(refused(steps, {waiting(one(EffectKind::sharpness))}));
  CHECK(refused(steps, {waiting(one(EffectKind::erase, kFinished))}));
}

TEST(gray_is_refused_where_it_cannot_be) {
  Step steps[2] = {whole(10, 20), whole(10, 20)};
  for (const int gray : {1, int{kLumaAlone}}) {
    steps[0].gray = gray, steps[1].gray = 0;
    CHECK(!refused(steps, {}));
    steps[0].gray = 0, steps[1].gray = gray;
    CHECK(refused(steps, {}));
  }
  steps[0].gray = kLumaAlone + 1, steps[1].gray = 0;
  CHECK(refused(steps, {}));
}

TEST(a_mean_that_depends_on_torch_is_refused) {
  for (const int width : {kMostMeanPixels, kMostMeanPixels + 1}) {
    const Step step = whole(1, width);
    const Effect contrast = effect_of(EffectKind::tensor_contrast, 1, width, {0.7});
    bool is_refused = false;
    try {
      size_after({{&step, 1}, {&contrast, 1}}, 1, width);
    } catch (const Error&) {
      is_refused = true;
    }
    CHECK(is_refused == (static_cast<size_t>(width) > kMostMeanPixels));
  }
}

bool refused(std::vector<Effect> effects) {
  const Step step = whole(10, 20);
  return refused({&step, 1}, std::move(effects));
}

TEST(effects_that_do_not_fit_are_refused) {
  const auto one = [](EffectKind kind, std::vector<double> numbers) {
    return refused({effect_of(kind, 10, 20, std::move(numbers))});
  };
  CHECK(!one(EffectKind::brightness, {1.5}));
  CHECK(one(EffectKind::brightness, {kNaN}));
  CHECK(one(EffectKind::brightness, {1e300}));
  CHECK(one(static_cast<EffectKind>(0), {}));
  CHECK(one(static_cast<EffectKind>(-1), {}));
  CHECK(one(static_cast<EffectKind>(9999), {}));
  CHECK(!one(EffectKind::contrast, {1.5, 1, 255}));
  CHECK(one(EffectKind::contrast, {1.5, 1, 255.5}));
  CHECK(one(EffectKind::contrast, {1.5, 1, -1}));
  CHECK(one(EffectKind::affine, {1, 0, 0, 0, 1, 0, 1, 0}));  // no such filter for warps
  CHECK(!one(EffectKind::affine, {kNaN, 0, 1e300, 0, 1, 0, 2, 0}));
  CHECK(one(EffectKind::gaussian_blur, {2, 3, 1, 1}));
  CHECK(one(EffectKind::gaussian_blur, {3, 21, 1, 1}));
  CHECK(one(EffectKind::gaussian_blur, {1e9, 3, 1, 1}));
  CHECK(!one(EffectKind::box_blur, {63.9, 0, 3}));
  CHECK(one(EffectKind::box_blur, {64, 0, 3}));
  CHECK(one(EffectKind::box_blur, {1, -0.5, 3}));
  CHECK(one(EffectKind::box_blur, {1, 1, 0.5}));
  CHECK(one(EffectKind::box_blur, {1, 1, 4}));
  CHECK(one(EffectKind::erase, {5, 5, 6, 1}));
  CHECK(one(EffectKind::erase, {-1, 0, 1, 1}));
  CHECK(one(EffectKind::elastic, {1, 1, 1e6, 1, 2, 0}));
  CHECK(one(EffectKind::mix_add, {1}));
  CHECK(one(EffectKind::mix_begin, {1}));  // without an end
  CHECK(refused({effect_of(EffectKind::invert, 10, 21, {})}));
  CHECK(refused({effect_of(EffectKind::affine, 0, 20, {1, 0, 0, 0, 1, 0, 0, 0})}));
  CHECK(refused({effect_of(EffectKind::invert, 10, 20, {}, 1)}));
  CHECK(refused({effect_of(EffectKind::invert, 10, 20, {}, kFinished)}));
  CHECK(refused({effect_of(EffectKind::erase, 10, 20, {}, kFinished),
                 effect_of(EffectKind::invert, 10, 20, {})}));
}

TEST(warps_by_numbers_that_make_no_sense) {
  std::mt19937 random(10);
  WorkerScratch scratch;
  const double odd[] = {0,  1, -1, 1e-300, 1e300, kNaN, std::numeric_limits<double>::infinity(),
                        3e9};
  const Step step = whole(17, 33);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> numbers(8);
    for (double& number : numbers) number = odd[random() % 8];
    const double filter = std::vector<double>{0, 2, 3}[random() % 3];
    std::vector<double> affine(numbers.begin(), numbers.begin() + 6);
    affine.insert(affine.end(), {filter, 255});
    numbers.insert(numbers.end(), {filter, 255});
    const Effect effects[] = {effect_of(EffectKind::affine, 17, 33, affine),
                              effect_of(EffectKind::perspective, 17, 33, numbers)};
    run(random, {{&step, 1}, effects}, 17, 33, scratch);
  }
}

}  // namespace
