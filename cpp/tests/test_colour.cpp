// Every variant of the colour kernels against the scalar one; the scalar one is compared with
// Pillow in tests/parity.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/cpu.h"
#include "check.h"
#include "kernels/colour/lut.h"
#include "kernels/colour/mix.h"
#include "kernels/colour/pending_tables.h"
#include "kernels/colour/variants.h"
#include "random_image.h"

namespace penstock {
namespace {

void check_equal(const PlanarTarget& got, const PlanarTarget& wanted, int channels) {
  for (int c = 0; c < channels; ++c)
    for (int y = 0; y < wanted.height; ++y)
      CHECK(std::equal(wanted.row(c, y), wanted.row(c, y) + wanted.width, got.row(c, y)));
}

/// The same change by the scalar kernel and by each variant. `change` picks a kernel.
template <class Change>
void check_change(const SlackImage& source, int channels_after, Change change) {
  const SlackImage wanted(source);
  force_isa(Isa::scalar);
  change(wanted.image);
  in_every_variant([&] {
    const SlackImage got(source);
    change(got.image);
    check_equal(got.image, wanted.image, channels_after);
  });
}

/// Keeps some bits of every level, which kernels do without looking up.
Lut masked_table(int kept) {
  Lut table;
  for (auto& channel : table.value)
    for (int level = 0; level < 256; ++level) channel[level] = static_cast<uint8_t>(level & kept);
  return table;
}

Lut random_table(Draw& draw) {
  Lut table;
  for (auto& row : table.value)
    for (uint8_t& level : row) level = static_cast<uint8_t>(draw.between(0, 255));
  return table;
}

TEST(variants_change_pixels_alike) {
  constexpr float kFactors[] = {-2.5f, -0.4f, 0.3f, 0.6f, 0.99999f, 1.2f, 1.37f, 7.0f, 1e7f, 1e38f};
  for (unsigned seed = 0; seed < 120; ++seed) {
    Draw draw(seed);
    const int channels = draw.coin() ? 3 : 1;
    const SlackImage source(RandomImage(draw, draw.between(1, 9), draw.between(1, 200), channels));
    const Lut table = seed % 3 ? random_table(draw) : masked_table(0xff00 >> draw.between(0, 8));
    check_change(source, channels,
                 [&](const PlanarTarget& image) { apply_lut(image, image.view(), table); });
    if (channels == 1) continue;
    check_change(source, 1,
                 [](const PlanarTarget& image) { PENSTOCK_PICK(to_gray)(image, image.view()); });
    const auto turn = static_cast<uint8_t>(draw.between(0, 255));
    check_change(source, 3,
                 [&](const PlanarTarget& image) { PENSTOCK_PICK(turn_hue)(image, turn); });
    const float factor = kFactors[seed % std::size(kFactors)];
    check_change(source, 3,
                 [&](const PlanarTarget& image) { PENSTOCK_PICK(saturate)(image, factor); });
  }
}

TEST(variants_measure_alike) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    Draw draw(seed);
    SlackImage working(
        RandomImage(draw, draw.between(1, 9), draw.between(1, 200), draw.coin() ? 3 : 1));
    const PlanarView image = working.image.view();
    // What lies behind the rows must not count, be it black or white; the image has neither.
    for (int c = 0; c < image.channels; ++c)
      for (int y = 0; y < image.height; ++y) {
        uint8_t* row = working.image.row(c, y);
        for (int x = 0; x < image.width; ++x) row[x] = static_cast<uint8_t>(60 + row[x] / 2);
        std::fill_n(row + image.width, kRowSlack, draw.coin() ? 0 : 255);
      }
    const Lut table = random_table(draw);
    for (const Lut* mapped : {static_cast<const Lut*>(nullptr), &table}) {
      Histogram stored, now;
      count_levels(stored, image);
      map_histogram(now, stored, image.channels, mapped);
      const Extremes wanted = extremes_of(now, image.channels);
      in_every_variant([&] {
        CHECK(PENSTOCK_PICK(sum_luma)(image, mapped) == scalar::sum_luma(image, mapped));
        const Extremes got = find_extremes(image, mapped);
        for (int c = 0; c < image.channels; ++c) {
          CHECK(got.least[c] == wanted.least[c]);
          CHECK(got.greatest[c] == wanted.greatest[c]);
        }
      });
    }
  }
}

/// Photos, flat images, and more pixels of one level than a small counter holds.
TEST(variants_count_alike) {
  for (unsigned seed = 0; seed < 90; ++seed) {
    Draw draw(seed);
    const bool is_large = seed % 30 == 0;
    const int height = is_large ? 1100 : draw.between(1, 70);
    const int width = is_large ? 1030 : draw.between(1, 200);
    SlackImage working(RandomImage(draw, height, width, draw.coin() ? 3 : 1));
    const PlanarView image = working.image.view();
    const int kept = is_large ? 0 : draw.between(0, 255);
    for (int c = 0; c < image.channels; ++c)
      for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
          working.image.row(c, y)[x] =
              static_cast<uint8_t>(seed % 2 ? x * 3 + y : working.image.row(c, y)[x] & kept);
    Histogram wanted;
    scalar::count_levels(wanted, image);
    in_every_variant([&] {
      Histogram got;
      count_levels(got, image);
      CHECK(std::memcmp(got.count, wanted.count, sizeof got.count[0] * image.channels) == 0);
    });
  }
}

/// Parts of any shape in any order, after others that did not count.
TEST(extremes_can_be_found_in_parts) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const SlackImage working(
        RandomImage(draw, draw.between(1, 20), draw.between(1, 300), draw.coin() ? 3 : 1));
    const PlanarView image = working.image.view();
    const int tall = draw.between(1, 9), wide = draw.between(1, 100);
    in_every_variant([&] {
      ExtremeFinder finder;
      finder.begin(image.channels);
      finder.see(image);
      finder.start();
      for (int x = (image.width - 1) / wide * wide; x >= 0; x -= wide)
        for (int y = 0; y < image.height; y += tall) {
          PlanarView part = image;
          part.height = std::min(tall, image.height - y);
          part.width = std::min(wide, image.width - x);
          for (int c = 0; c < image.channels; ++c) part.plane[c] = image.row(c, y) + x;
          finder.see(part);
        }
      const Extremes got = finder.found(), wanted = find_extremes(image, nullptr);
      CHECK(std::memcmp(&got, &wanted, sizeof got) == 0);
    });
  }
}

/// A hue follows from the range of the channels, what the middle one lacks and their order.
TEST(all_hues_are_alike) {
  constexpr int kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
  for (const auto& order : kOrders) {
    const SlackImage source(256, 256,
                            3);  // a row for each greatest, a column for each middle level
    for (int greatest = 0; greatest < 256; ++greatest)
      for (int middle = 0; middle < 256; ++middle) {
        const int levels[3] = {greatest, std::min(middle, greatest), 0};
        for (int c = 0; c < 3; ++c)
          source.image.row(c, greatest)[middle] = static_cast<uint8_t>(levels[order[c]]);
      }
    check_change(source, 3, [](const PlanarTarget& image) { PENSTOCK_PICK(turn_hue)(image, 0); });
  }
}

/// Back from a hue there are 256 turns for each saturation and value; reds have all of these.
TEST(all_turns_are_alike) {
  const SlackImage source(256, 256, 3);
  for (int greatest = 0; greatest < 256; ++greatest)
    for (int least = 0; least < 256; ++least) {
      const auto other = static_cast<uint8_t>(std::min(least, greatest));
      source.image.row(0, greatest)[least] = static_cast<uint8_t>(greatest);
      source.image.row(1, greatest)[least] = other;
      source.image.row(2, greatest)[least] = other;
    }
  for (int turn = 0; turn < 256; ++turn)
    check_change(source, 3, [turn](const PlanarTarget& image) {
      PENSTOCK_PICK(turn_hue)(image, static_cast<uint8_t>(turn));
    });
}

/// Where the tables are said to be exact they give the float sum for every gray and distance.
TEST(blend_steps_are_exact_or_refused) {
  Draw draw(9);
  int used = 0;
  for (int i = 0; i < 400; ++i) {
    const float factor = static_cast<float>(draw.between(0, 1 << 20)) / (i % 2 ? 1 << 19 : 500000);
    BlendSteps steps;
    if (!make_blend_steps(steps, factor)) continue;
    ++used;
    for (int gray = 0; gray < 256; ++gray)
      for (int level = 0; level < 256; ++level) {
        const float sum = static_cast<float>(gray) + factor * static_cast<float>(level - gray);
        const int wanted = static_cast<int>(std::clamp(sum, 0.0f, 255.0f));
        const int got = level >= gray ? std::min(gray + steps.up[level - gray], 255)
                                      : std::max(gray - steps.down[gray - level], 0);
        CHECK(got == wanted);
      }
  }
  CHECK(used > 200);  // else the tables are refused too often to be of use
}

TEST(mixes_are_alike) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kWeights[] = {0.3f, 0.71f, -1.5f, 2.5f, 1e30f, kNan};
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 9), width = draw.between(1, 200);
    const SlackImage first(RandomImage(draw, height, width, draw.coin() ? 3 : 1));
    const SlackImage second(RandomImage(draw, height, width, draw.coin() ? 3 : 1));
    const float weight = kWeights[seed % std::size(kWeights)];
    const MixPart parts[] = {{first.image.view(), weight},
                             {second.image.view(), 1 - weight},
                             {first.image.view(), 0.1f}};
    const int channels = mixed_channels(parts);
    std::unique_ptr<SlackImage> wanted;
    in_every_variant([&] {
      CHECK(channels == std::max(first.image.channels, second.image.channels));
      const SlackImage mixed(height, width, channels);
      mix_images(mixed.image, parts);
      if (wanted == nullptr) wanted = std::make_unique<SlackImage>(mixed);
      check_equal(mixed.image, wanted->image, channels);
    });
  }
}

/// Autocontrast goes by what others have shown to the tables, and looks at pixels only without it.
TEST(extremes_that_are_known_are_not_looked_for) {
  Draw draw(3);
  const SlackImage seen(RandomImage(draw, 9, 70, 3)), given(RandomImage(draw, 9, 70, 3));
  // So that their extremes differ.
  for (int c = 0; c < 3; ++c)
    for (int x = 0; x < 70; ++x)
      for (int y = 0; y < 9; ++y) given.image.row(c, y)[x] = static_cast<uint8_t>(90 + x + c);
  const double numbers[1] = {};
  for (const bool shown : {false, true}) {
    SlackImage working(given), wanted(given);
    PendingTables tables;
    tables.begin();
    if (shown) tables.watch(3).see(seen.image.view());
    tables.add(working.image, EffectKind::autocontrast, numbers);
    tables.flush(working.image, working.image.view());
    const Extremes extremes = find_extremes((shown ? seen : given).image.view(), nullptr);
    apply_lut(wanted.image, given.image.view(), autocontrast_table(extremes, 3));
    check_equal(working.image, wanted.image, 3);
  }
}

/// Tables wait; whatever needs pixels flushes them first, and gray has one channel from then on.
TEST(tables_wait_until_pixels_are_needed) {
  Draw draw(2);
  SlackImage working(RandomImage(draw, 7, 90, 3));
  const SlackImage before(working);
  PendingTables tables;
  const double half[3] = {0.5, 0, 0}, order[3] = {2, 0, 1};
  tables.begin();
  CHECK(!tables.pending());
  for (const EffectKind effect :
       {EffectKind::brightness, EffectKind::equalize, EffectKind::contrast,
        EffectKind::autocontrast, EffectKind::invert})
    tables.add(working.image, effect, half);
  check_equal(working.image, before.image, 3);
  CHECK(tables.pending());

  const uint8_t* blue = working.image.plane[2];
  tables.add(working.image, EffectKind::permute_channels, order);
  CHECK(working.image.plane[0] == blue);
  tables.add(working.image, EffectKind::grayscale, half);
  CHECK(!tables.pending());
  CHECK(working.image.channels == 1);
  tables.add(working.image, EffectKind::hue, half);
  CHECK(!tables.pending());
}

}  // namespace
}  // namespace penstock
