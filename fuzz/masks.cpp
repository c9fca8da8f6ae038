// Masks of objects from arbitrary bytes: every map gives what the scalar version gives, and what
// move_masks accepts or refuses does not depend on who asks.
//
// The first 8 bytes choose the map and the program; the rest is what lies in a packed file.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "engine/move_masks.h"
#include "kernels/mask/runs.h"

namespace {

using namespace penstock;

constexpr int64_t kMaxPixels = 1 << 12;  // the scalar version looks at every run for every pixel
constexpr size_t kChoices = 8;
constexpr int kMaxMasks = 8;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Places in an axis of `size`, rising, falling or in no order, with some from outside.
std::vector<int32_t> choose_axis(int count, int size, uint8_t order, uint8_t stride) {
  std::vector<int32_t> places(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int place = (i * (1 + stride % 7) + stride) % (size + 1) - 1;  // -1: from outside
    places[static_cast<size_t>(i)] = place;
  }
  if (order % 4 != 0) std::sort(places.begin(), places.end());
  if (order % 4 == 2) std::reverse(places.begin(), places.end());
  return places;
}

/// Nothing that is read may be wrong: runs rise, do not touch and stay inside the mask.
bool check_runs(std::vector<Run>& runs, std::span<const uint8_t> encoded, int64_t pixels) {
  try {
    read_runs(runs, encoded, pixels);
  } catch (const Error&) {
    return false;
  }
  int64_t before = -1;
  for (const Run& run : runs) {
    require(run.begin > before && run.begin < run.end && run.end <= pixels);
    before = run.end;
  }
  return true;
}

void check_drawing(const RunMasks& masks, const uint8_t* choices) {
  const int height = 1 + choices[0] % 16, width = 1 + choices[1] % 40;
  const auto rows = choose_axis(height, masks.height, choices[2], choices[3]);
  const auto columns = choose_axis(width, masks.width, choices[4], choices[5]);
  std::vector<int32_t> pixels;
  if (choices[6] % 4 == 0)
    pixels = choose_axis(height * width, masks.height * masks.width, choices[2], choices[3]);
  const MaskMap map{masks.height, masks.width, height, width, rows, columns, pixels};
  RunDrawer drawer;
  drawer.begin(map);
  std::vector<Run> runs;
  std::vector<uint8_t> drawn(static_cast<size_t>(height * width)), expected(drawn.size());
  for (int number = 0; number < std::min(masks.count, kMaxMasks); ++number) {
    const std::span<const uint8_t> encoded = masks.of(number);
    if (!check_runs(runs, encoded, int64_t{masks.height} * masks.width)) continue;
    drawer.draw(drawn.data(), encoded);
    draw_runs_scalar(expected.data(), encoded, map);
    require(drawn == expected);
  }
}

/// Crops, resizes and mirrors as a program would; sizes that do not fit must be refused.
void check_moving(std::span<const uint8_t> encoded, const RunMasks& masks, const uint8_t* choices) {
  Step step{};
  step.crop_top = choices[0] % masks.height;
  step.crop_left = choices[1] % masks.width;
  step.crop_height = 1 + choices[2] % (masks.height - step.crop_top);
  step.crop_width = 1 + choices[3] % (masks.width - step.crop_left);
  step.resize_height = step.window_height = 1 + choices[4] % 32;
  step.resize_width = step.window_width = 1 + choices[5] % 32;
  step.filter = 0;
  step.flip_horizontal = choices[6] & 1;
  step.flip_vertical = choices[6] >> 1 & 1;
  step.dct_scale = 1;
  MaskWork work;
  work.source.runs = encoded;
  work.numbers = {choices[7] % (masks.count + 1)};  // at times one that is not there
  const std::vector<Step> steps{step};
  work.program.steps = steps;
  work.out_height = step.window_height;
  work.out_width = step.window_width;
  std::vector<uint8_t> out(static_cast<size_t>(work.out_height * work.out_width));
  work.out = out.data();
  MaskScratch scratch;
  try {
    move_masks(work, scratch);
  } catch (const Error&) {
    return;
  }
  require(work.numbers[0] < masks.count);
  require(std::all_of(out.begin(), out.end(), [](uint8_t value) { return value <= 1; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kChoices) return 0;
  const std::span<const uint8_t> encoded(data + kChoices, size - kChoices);
  std::vector<Run> runs;
  for (const int64_t pixels : {int64_t{1}, int64_t{1} << 20, int64_t{1} << 48})
    check_runs(runs, encoded, pixels);
  RunMasks masks;
  try {
    masks = RunMasks::read(encoded);
  } catch (const Error&) {
    return 0;
  }
  if (int64_t{masks.height} * masks.width > kMaxPixels) return 0;
  check_drawing(masks, data);
  check_moving(encoded, masks, data);
  return 0;
}
