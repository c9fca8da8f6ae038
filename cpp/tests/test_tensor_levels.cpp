// Bytes of tensors: every variant looks up what the table says, in memory without slack. What the
// tables say is compared with torch in tests/transforms/functional/test_tensor_levels.py.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "kernels/tensor/levels.h"
#include "random_image.h"

namespace penstock {
namespace {

std::vector<uint8_t> random_levels(Draw& draw, size_t count) {
  std::vector<uint8_t> levels(count);
  for (uint8_t& level : levels) level = static_cast<uint8_t>(draw.between(0, 255));
  return levels;
}

TEST_EACH_ISA(levels_are_looked_up) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    const auto levels = random_levels(draw, static_cast<size_t>(draw.between(1, 500)));
    LevelTable table;
    for (uint8_t& value : table.value) value = static_cast<uint8_t>(draw.between(0, 255));
    std::vector<uint8_t> got(levels.size()), in_place = levels;
    look_up_levels(got.data(), levels.data(), levels.size(), table);
    look_up_levels(in_place.data(), in_place.data(), levels.size(), table);
    for (size_t i = 0; i < levels.size(); ++i) CHECK(got[i] == table.value[levels[i]]);
    CHECK(got == in_place);
  }
}

TEST_EACH_ISA(extremes_are_found) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    auto levels = random_levels(draw, static_cast<size_t>(draw.between(1, 300)));
    for (uint8_t& level : levels) level = static_cast<uint8_t>(100 + level / 8);
    uint8_t least, most;
    find_extremes(least, most, levels.data(), levels.size());
    CHECK(least == *std::min_element(levels.begin(), levels.end()));
    CHECK(most == *std::max_element(levels.begin(), levels.end()));
  }
}

TEST_EACH_ISA(the_mean_is_that_of_whole_levels) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const auto pixels = static_cast<size_t>(draw.between(1, 2500));
    const auto levels = random_levels(draw, 3 * pixels);
    const bool interleaved = draw.coin();
    const size_t next = interleaved ? 1 : pixels, step = interleaved ? 3 : 1;
    double sum = 0, red_sum = 0;
    for (size_t i = 0; i < pixels; ++i) {
      const auto of = [&](size_t c) { return static_cast<float>(levels[c * next + i * step]); };
      sum += std::floor(std::fmaf(of(2), 0.114f, std::fmaf(of(1), 0.587f, of(0) * 0.2989f)));
      red_sum += levels[i];
    }
    const uint8_t* first = levels.data();
    const Colours<const uint8_t> colours{{first, first + next, first + 2 * next},
                                         static_cast<ptrdiff_t>(step)};
    CHECK(mean_gray(colours, pixels) == static_cast<float>(sum) / static_cast<float>(pixels));
    CHECK(mean_level(first, pixels) == static_cast<float>(red_sum) / static_cast<float>(pixels));
  }
}

TEST(levels_stay_within_black_and_white) {
  const LevelTable bright = level_table(ValueMap::scale, {1e20f, 0, 0});
  const LevelTable dark = level_table(ValueMap::blend, {-3.0f, 0, 0});
  const LevelTable none =
      level_table(ValueMap::scale, {std::numeric_limits<float>::quiet_NaN(), 0, 0});
  CHECK(bright.value[0] == 0 && bright.value[1] == 255 && bright.value[255] == 255);
  CHECK(dark.value[0] == 0 && dark.value[255] == 0);
  CHECK(none.value[77] == 0);
  const LevelTable flat = stretch_table(9, 9), wide = stretch_table(10, 20);
  for (int level = 0; level < 256; ++level) CHECK(flat.value[level] == level);
  CHECK(wide.value[9] == 0 && wide.value[10] == 0 && wide.value[20] >= 254);
}

TEST(a_blend_on_the_edge_is_not_sure) {
  CHECK(is_blend_sure({1.0f, 0.0f, 0.0f}));
  // 0.1 * 10 is just above 1 as a product of floats, and 1 once it is rounded: with 1e-8 less, the
  // two are on different sides of a whole level.
  bool found = false;
  for (int step = 1; step < 4000 && !found; ++step)
    found = !is_blend_sure({0.5f, 0.001f * static_cast<float>(step), -10.0f});
  CHECK(found);
}

struct Curve {
  Curve() {
    for (int level = 0; level < 256; ++level) {
      const auto whole = static_cast<float>(level);
      fractions[level] = whole / 255.0f;
      fractions[256 + level] = whole * static_cast<float>(1.0 / 255);
    }
    for (int i = 0; i < 512; ++i) values[i] = static_cast<float>(i) + 0.5f;
  }

  float fractions[512], values[512];
};

TEST_EACH_ISA(fractions_are_looked_up) {
  const Curve known;
  const FractionCurve curve(known.fractions, known.values);
  for (unsigned seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    const int way = draw.between(0, 1);
    std::vector<int> levels(static_cast<size_t>(draw.between(1, 2600)));
    std::vector<float> given(levels.size()), got(levels.size());
    for (size_t i = 0; i < levels.size(); ++i) {
      levels[i] = draw.between(0, 255);
      given[i] = known.fractions[256 * way + levels[i]];
    }
    CHECK(look_up_fractions(got.data(), given.data(), given.size(), curve));
    for (size_t i = 0; i < levels.size(); ++i) {
      const float first = known.values[levels[i]], second = known.values[256 + levels[i]];
      const bool is_same = known.fractions[levels[i]] == known.fractions[256 + levels[i]];
      CHECK(got[i] == (way == 0 ? first : second) || (is_same && got[i] == first));
    }
  }
}

TEST_EACH_ISA(other_floats_are_not_looked_up) {
  const Curve known;
  const FractionCurve curve(known.fractions, known.values);
  for (const float other :
       {0.5f, -0.0f, 2.0f, -3.0f, 1e30f, std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> given(1500, known.fractions[7]), got(given.size());
    CHECK(look_up_fractions(got.data(), given.data(), given.size(), curve));
    given[1400] = other;
    CHECK(!look_up_fractions(got.data(), given.data(), given.size(), curve));
  }
}

}  // namespace
}  // namespace penstock
