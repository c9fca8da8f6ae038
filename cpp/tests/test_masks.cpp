// Masks: run lengths drawn through every kind of map, maps that follow an image, damaged bytes.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "engine/move_masks.h"
#include "engine/run_sample.h"
#include "kernels/mask/mask_map.h"
#include "kernels/mask/runs.h"
#include "random_image.h"

using namespace penstock;

namespace {

/// 0 and 1 in stretches of random lengths, with the ends inside or outside.
std::vector<uint8_t> random_mask(Draw& draw, int pixels) {
  std::vector<uint8_t> mask;
  uint8_t value = draw.coin();
  const int longest = draw.between(1, 1 + pixels / draw.between(1, 6));
  while (static_cast<int>(mask.size()) < pixels) {
    mask.insert(mask.end(), static_cast<size_t>(draw.between(1, longest)), value);
    value ^= 1;
  }
  mask.resize(static_cast<size_t>(pixels));
  if (draw.between(0, 9) == 0) std::fill(mask.begin(), mask.end(), uint8_t{0});
  return mask;
}

void put_number(std::vector<uint8_t>& out, uint32_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<uint8_t>(value | 128));
  out.push_back(static_cast<uint8_t>(value));
}

std::vector<uint8_t> runs_of(const std::vector<uint8_t>& mask) {
  std::vector<uint8_t> out;
  size_t begin = 0;
  uint8_t value = 0;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == value) continue;
    put_number(out, static_cast<uint32_t>(i - begin));
    begin = i;
    value ^= 1;
  }
  if (value == 1) put_number(out, static_cast<uint32_t>(mask.size() - begin));
  return out;
}

std::vector<uint8_t> file_of(const std::vector<std::vector<uint8_t>>& masks, int height,
                             int width) {
  std::vector<uint8_t> out{'R', 'U', 'N', '1'}, runs;
  const auto put = [&](size_t value) {
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(value >> shift));
  };
  put(masks.size());
  put(static_cast<size_t>(height));
  put(static_cast<size_t>(width));
  for (const auto& mask : masks) {
    const std::vector<uint8_t> one = runs_of(mask);
    runs.insert(runs.end(), one.begin(), one.end());
    put(runs.size());
  }
  out.insert(out.end(), runs.begin(), runs.end());
  return out;
}

std::vector<int32_t> random_axis(Draw& draw, int count, int size) {
  std::vector<int32_t> places(static_cast<size_t>(count));
  for (int32_t& place : places) place = draw.between(draw.between(0, 3) ? 0 : -1, size - 1);
  const int kind = draw.between(0, 3);
  if (kind == 0) return places;  // in any order
  std::sort(places.begin(), places.end());
  if (kind == 2) std::reverse(places.begin(), places.end());
  if (kind == 3) std::fill(places.begin(), places.end(), kMaskOutside);
  return places;
}

TEST(runs_are_drawn_as_the_scalar_version_draws_them) {
  RunDrawer drawer;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const int in_height = draw.between(1, 9), in_width = draw.between(1, 40);
    const int height = draw.between(1, 12), width = draw.between(1, 50);
    const std::vector<int32_t> rows = random_axis(draw, height, in_height);
    const std::vector<int32_t> columns = random_axis(draw, width, in_width);
    std::vector<int32_t> pixels;
    if (draw.between(0, 3) == 0) pixels = random_axis(draw, height * width, in_height * in_width);
    const MaskMap map{in_height, in_width, height, width, rows, columns, pixels};
    drawer.begin(map);
    for (int number = 0; number < 3; ++number) {
      const std::vector<uint8_t> mask = random_mask(draw, in_height * in_width);
      const std::vector<uint8_t> runs = runs_of(mask);
      const auto size = static_cast<size_t>(height * width);
      const auto drawn = std::make_unique<uint8_t[]>(size),
                 plain = std::make_unique<uint8_t[]>(size),
                 gathered = std::make_unique<uint8_t[]>(size);
      std::fill_n(drawn.get(), size, uint8_t{7});
      drawer.draw(drawn.get(), runs);
      draw_runs_scalar(plain.get(), runs, map);
      gather_mask<uint8_t>(gathered.get(), mask.data(), map, 0);
      CHECK(std::equal(drawn.get(), drawn.get() + size, plain.get()));
      CHECK(std::equal(drawn.get(), drawn.get() + size, gathered.get()));
    }
  }
}

Step random_step(Draw& draw, int& height, int& width) {
  Step step{};
  step.dct_scale = 1;
  step.filter = -1;
  if (draw.coin()) {
    step.pad_left = draw.between(0, 6);
    step.pad_top = draw.between(0, 6);
    step.pad_right = draw.between(0, 6);
    step.pad_bottom = draw.between(0, 6);
    step.pad_mode = draw.between(0, 3);
  }
  height += step.pad_top + step.pad_bottom;
  width += step.pad_left + step.pad_right;
  const auto part = [&](int32_t& first, int32_t& count, int& size) {
    count = draw.coin() ? size : draw.between(1, size);
    first = draw.between(0, size - count);
    size = count;
  };
  part(step.crop_top, step.crop_height, height);
  part(step.crop_left, step.crop_width, width);
  if (draw.coin()) {
    step.filter = 0;
    height = draw.between(1, 40);
    width = draw.between(1, 40);
  }
  step.resize_height = height;
  step.resize_width = width;
  part(step.window_top, step.window_height, height);
  part(step.window_left, step.window_width, width);
  step.flip_horizontal = draw.coin();
  step.flip_vertical = draw.coin();
  return step;
}

Effect random_warp(Draw& draw, int32_t after_step, int& height, int& width) {
  const auto part = [&] { return draw.between(-150, 150) / 100.0; };
  Effect effect{EffectKind::affine, after_step, height, width, {}};
  Parameters<EffectKind::affine> affine{};
  switch (draw.between(0, 3)) {
    case 0: {
      Parameters<EffectKind::elastic> elastic{};
      elastic.alpha_across = elastic.alpha_down = 10;
      elastic.sigma_across = elastic.sigma_down = 1;
      elastic.key[0] = draw.between(0, 1000);
      effect.kind = EffectKind::elastic;
      write_parameters<EffectKind::elastic>(effect.numbers, elastic);
      return effect;
    }
    case 1: {
      Parameters<EffectKind::perspective> perspective{};
      for (int i = 0; i < 6; ++i) perspective.matrix[i] = part();
      perspective.matrix[6] = perspective.matrix[7] = part() / 50;
      effect.kind = EffectKind::perspective;
      write_parameters<EffectKind::perspective>(effect.numbers, perspective);
      break;
    }
    case 2:  // a scale
      affine.matrix[0] = affine.matrix[4] = 0.5 + draw.between(0, 100) / 100.0;
      affine.matrix[2] = affine.matrix[5] = part();
      write_parameters<EffectKind::affine>(effect.numbers, affine);
      break;
    default:
      for (double& number : affine.matrix) number = part();
      write_parameters<EffectKind::affine>(effect.numbers, affine);
  }
  height = effect.height = draw.between(1, 40);
  width = effect.width = draw.between(1, 40);
  return effect;
}

/// What the engine makes of an image of three channels, and what a map makes of each of them.
void compare_with_image(const Program& program, const RandomImage& image, MaskScratch& scratch) {
  const Region size = size_after(program, image.height, image.width);
  const auto pixels = static_cast<size_t>(size.height) * static_cast<size_t>(size.width);
  const size_t in_pixels = static_cast<size_t>(image.height) * static_cast<size_t>(image.width);
  std::vector<uint8_t> rgb(in_pixels * 3);
  for (size_t i = 0; i < in_pixels; ++i)
    for (size_t c = 0; c < 3; ++c) rgb[3 * i + c] = image.samples[c * in_pixels + i];
  std::vector<uint8_t> expected(pixels * 3);
  Output output;
  output.data = expected.data();
  output.height = size.height;
  output.width = size.width;
  output.layout = Layout::hwc;
  output.row_stride = ptrdiff_t{3} * size.width;
  SampleSource source;
  source.rgb = rgb.data();
  source.rgb_stride = ptrdiff_t{3} * image.width;
  source.height = image.height;
  source.width = image.width;
  bool late = false;
  WorkerScratch worker;
  CHECK(run_sample(late, output, source, program, worker).status == DecodeStatus::ok);
  worker.late.finish();
  std::vector<uint8_t> moved(pixels * 3);
  MaskWork work;
  work.source = {{}, image.samples.data(), 3, image.height, image.width, 1};
  work.numbers = {0, 1, 2};
  work.program = program;
  work.out = moved.data();
  work.out_height = size.height;
  work.out_width = size.width;
  move_masks(work, scratch);
  for (size_t i = 0; i < pixels; ++i)
    for (size_t c = 0; c < 3; ++c) CHECK(moved[c * pixels + i] == expected[3 * i + c]);
}

TEST(maps_follow_the_image) {
  MaskScratch scratch;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Draw draw(seed);
    int height = draw.between(1, 30), width = draw.between(1, 30);
    const RandomImage image(draw, height, width, 3);
    std::vector<Step> steps;
    std::vector<Effect> effects;
    for (int32_t i = 0; i < draw.between(1, 3); ++i) {
      steps.push_back(random_step(draw, height, width));
      for (int more = draw.between(0, 4); more > 2; --more)
        effects.push_back(random_warp(draw, i, height, width));
    }
    compare_with_image({steps, effects}, image, scratch);
  }
}

TEST(images_with_more_pixels_than_24_bits_count) {
  Draw draw(1);
  const int side = 4100;
  const RandomImage image(draw, side, side, 3);
  Step step{};
  step.crop_height = step.resize_height = step.window_height = side;
  step.crop_width = step.resize_width = step.window_width = side;
  step.filter = -1;
  step.dct_scale = 1;
  const Effect turn{EffectKind::affine, 0, 90, 110, {30, 9, -200, -7, 40, 100}};
  MaskScratch scratch;
  compare_with_image({{&step, 1}, {&turn, 1}}, image, scratch);
}

/// Whatever the bytes say, there is an Error or a mask of the right size.
TEST(damaged_bytes_are_refused_or_drawn) {
  MaskScratch scratch;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 9), width = draw.between(1, 300);
    std::vector<std::vector<uint8_t>> masks;
    for (int i = draw.between(1, 4); i > 0; --i) masks.push_back(random_mask(draw, height * width));
    std::vector<uint8_t> bytes = file_of(masks, height, width);
    for (int flips = draw.between(0, 3); flips > 0; --flips)
      bytes[static_cast<size_t>(draw.between(0, static_cast<int>(bytes.size()) - 1))] =
          static_cast<uint8_t>(draw.between(0, 255));
    bytes.resize(static_cast<size_t>(draw.between(1, static_cast<int>(bytes.size()))));
    const auto exact = std::make_unique<uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    Step step{};
    step.crop_height = step.resize_height = step.window_height = height;
    step.crop_width = step.resize_width = step.window_width = width;
    step.filter = -1;
    step.dct_scale = 1;
    std::vector<uint8_t> out(static_cast<size_t>(height * width));
    MaskWork work;
    work.source.runs = {exact.get(), bytes.size()};
    work.numbers = {draw.between(0, static_cast<int>(masks.size()) - 1)};
    work.program = {{&step, 1}, {}};
    work.out = out.data();
    work.out_height = height;
    work.out_width = width;
    try {
      move_masks(work, scratch);
      CHECK(std::all_of(out.begin(), out.end(), [](uint8_t value) { return value <= 1; }));
    } catch (const Error&) {
    }
  }
}

template <class Body>
bool is_refused(Body body) {
  try {
    body();
  } catch (const Error&) {
    return true;
  }
  return false;
}

TEST(what_does_not_fit_is_refused) {
  MaskScratch scratch;
  Step step{};
  step.crop_height = step.resize_height = step.window_height = 4;
  step.crop_width = step.resize_width = step.window_width = 4;
  step.filter = -1;
  step.dct_scale = 1;
  const std::vector<uint8_t> bytes = file_of({std::vector<uint8_t>(16, 1)}, 4, 4);
  uint8_t out[16];
  MaskWork work;
  work.source.runs = bytes;
  work.numbers = {0};
  work.program = {{&step, 1}, {}};
  work.out = out;
  work.out_height = work.out_width = 4;
  move_masks(work, scratch);
  CHECK(std::all_of(out, out + 16, [](uint8_t value) { return value == 1; }));
  work.numbers = {1};
  CHECK(is_refused([&] { move_masks(work, scratch); }));
  work.numbers = {0};
  work.out_width = 3;
  CHECK(is_refused([&] { move_masks(work, scratch); }));
  Effect blur{EffectKind::invert, 0, 4, 4, {}};
  CHECK(is_refused([&] { make_mask_map({{&step, 1}, {&blur, 1}}, 4, 4, scratch); }));
  step.filter = 2;
  CHECK(is_refused([&] { make_mask_map({{&step, 1}, {}}, 4, 4, scratch); }));
}

}  // namespace
