// Filters, noise, erasing and mixing: variants against the scalar ones, on memory that shows every
// stray access.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/cpu.h"
#include "check.h"
#include "guarded_output.h"
#include "kernels/filter/blur.h"
#include "kernels/filter/box_blur.h"
#include "kernels/filter/erase.h"
#include "kernels/filter/noise.h"
#include "kernels/filter/sharpen.h"
#include "kernels/mix/mix_batch.h"
#include "kernels/random/numbers.h"
#include "random_image.h"

namespace penstock {
namespace {

constexpr int kWidths[] = {1, 2, 3, 4, 15, 16, 17, 18, 33, 63, 64, 65, 66, 67, 130};

/// What `act` makes of `in` is the same with every instruction set.
template <class Act>
void check_variants_agree(const SlackImage& in, int out_channels, Act act) {
  std::vector<uint8_t> expected;
  in_every_variant([&] {
    const SlackImage out(in.image.height, in.image.width, out_channels);
    act(out.image, in.image.view());
    if (expected.empty()) expected = out.samples();
    CHECK(out.samples() == expected);
  });
}

TEST(variants_agree) {
  Draw draw(1);
  for (const int width : kWidths)
    for (const int height : {1, 2, 3, 9}) {
      const SlackImage in(RandomImage(draw, height, width, draw.coin() ? 1 : 3));
      for (const float factor : {0.0f, 0.3f, 1.9f, -2.5f, 1e-8f, 1e30f})
        check_variants_agree(in, in.image.channels, [&](const auto& out, const auto& view) {
          sharpen(out, view, factor);
        });
      const BlurSpec spec{2 * draw.between(0, width - 1) + 1, 2 * draw.between(0, height - 1) + 1,
                          1.3f, 0.7f};
      CHECK(blur_fits(spec, height, width));
      BlurScratch scratch;
      check_variants_agree(in, in.image.channels, [&](const auto& out, const auto& view) {
        gaussian_blur(out, view, spec, scratch);
      });
      for (const bool clip : {false, true})
        check_variants_agree(in, 3, [&](const auto& out, const auto& view) {
          add_gaussian_noise(out, view, {3, 40, clip, {1, 2}});
        });
    }
}

int mirrored(int p, int size) { return p < 0 ? -p : p < size ? p : 2 * (size - 1) - p; }

/// The sum that gaussian_blur stands for, with nothing to make it fast.
uint8_t plain_blur(const PlanarView& in, const BlurSpec& spec, int channel, int y, int x) {
  const int across = spec.kernel_width / 2, down = spec.kernel_height / 2;
  const float* weights_down =
      spec.kernel_width == spec.kernel_height ? spec.weights : spec.weights + across + 1;
  float sum = 0;
  for (int i = -down; i <= down; ++i)
    for (int j = -across; j <= across; ++j) {
      const float weight = weights_down[std::abs(i)] * spec.weights[std::abs(j)];
      const uint8_t* row = in.row(channel, mirrored(y + i, in.height));
      sum = std::fma(static_cast<float>(row[mirrored(x + j, in.width)]), weight, sum);
    }
  return static_cast<uint8_t>(std::nearbyint(sum));
}

/// Weights that fade from the middle, all together 1.
void fill_weights(float* weights, int reach, float fading) {
  float sum = 0, weight = 1;
  for (int i = 0; i <= reach; ++i, weight *= fading) {
    weights[i] = weight;
    sum += i == 0 ? weight : 2 * weight;
  }
  for (int i = 0; i <= reach; ++i) weights[i] /= sum;
}

TEST(blur_is_the_plain_sum) {
  Draw draw(7);
  for (const int width : {1, 5, 17, 64, 130})
    for (const int height : {1, 9, 40}) {
      const SlackImage in(RandomImage(draw, height, width, 3));
      // Few levels make sums that lie at half a level, or next to it.
      if (draw.coin())
        for (int c = 0; c < 3; ++c)
          for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) in.image.row(c, y)[x] = (x + y * c) % 2 * 255;
      BlurSpec spec;
      spec.kernel_width = 2 * draw.between(0, std::min(width - 1, 11)) + 1;
      spec.kernel_height = 2 * draw.between(0, std::min(height - 1, 11)) + 1;
      for (const float fading : {0.05f, 0.5f, 0.9f, 1.0f}) {
        fill_weights(spec.weights, spec.kernel_width / 2, fading);
        if (spec.kernel_width != spec.kernel_height)
          fill_weights(spec.weights + spec.kernel_width / 2 + 1, spec.kernel_height / 2, fading);
        CHECK(weights_fit(spec));
        in_every_variant([&] {
          const SlackImage out(height, width, 3);
          BlurScratch scratch;
          gaussian_blur(out.image, in.image.view(), spec, scratch);
          for (int c = 0; c < 3; ++c)
            for (int y = 0; y < height; ++y)
              for (int x = 0; x < width; ++x)
                CHECK(out.image.row(c, y)[x] == plain_blur(in.image.view(), spec, c, y, x));
        });
      }
    }
}

TEST(weights_must_fit_their_kernel) {
  BlurSpec spec{3, 3, 1, 1};
  CHECK(weights_fit(spec));
  spec.weights[0] = 0.5f;
  CHECK(!weights_fit(spec));
  spec.weights[1] = 0.25f;
  CHECK(weights_fit(spec));
  spec.kernel_width = 57;
  CHECK(!weights_fit(spec));
}

TEST(blur_needs_something_to_reflect) {
  CHECK(blur_fits({1, 1, 1, 1}, 1, 1));
  CHECK(!blur_fits({3, 1, 1, 1}, 5, 1));
  CHECK(!blur_fits({1, 3, 1, 1}, 1, 5));
  CHECK(blur_fits({9, 9, 1, 1}, 5, 5));
  CHECK(!blur_fits({11, 9, 1, 1}, 5, 5));
}

/// One pass of a box blur over one line of pixels, with nothing to make it fast.
std::vector<int> plain_box(const std::vector<int>& line, float radius) {
  const int last = static_cast<int>(line.size()) - 1, whole = static_cast<int>(radius);
  const auto inside = static_cast<int64_t>(16777216.0f / (radius * 2 + 1));
  const int64_t ends = (16777216 - (2 * whole + 1) * inside) / 2;
  std::vector<int> mean(line.size());
  for (int x = 0; x <= last; ++x) {
    int64_t sum = 1 << 23;
    for (int i = x - whole - 1; i <= x + whole + 1; ++i)
      sum += line[std::clamp(i, 0, last)] * (std::abs(i - x) > whole ? ends : inside);
    mean[x] = static_cast<int>(sum >> 24);
  }
  return mean;
}

/// The same over a channel: all passes across, then all down.
std::vector<int> plain_box_blur(const PlanarView& in, int channel, const BoxBlurSpec& spec) {
  std::vector<int> pixels;
  for (int y = 0; y < in.height; ++y)
    pixels.insert(pixels.end(), in.row(channel, y), in.row(channel, y) + in.width);
  const auto blur = [&](int lines, int line_step, int count, int step, float radius) {
    if (radius == 0) return;
    for (int n = 0; n < lines; ++n) {
      std::vector<int> line;
      for (int i = 0; i < count; ++i) line.push_back(pixels[n * line_step + i * step]);
      for (int pass = 0; pass < spec.passes; ++pass) line = plain_box(line, radius);
      for (int i = 0; i < count; ++i) pixels[n * line_step + i * step] = line[i];
    }
  };
  blur(in.height, in.width, in.width, 1, spec.radius_across);
  blur(in.width, 1, in.height, in.width, spec.radius_down);
  return pixels;
}

TEST(box_blur_is_the_plain_mean) {
  Draw draw(8);
  const float radii[] = {0, 1e-9f, 0.01f, 0.4f, 0.999f, 1, 1.3f, 2, 5.5f, 20, 63.9f};
  const auto radius = [&] { return radii[draw.between(0, std::size(radii) - 1)]; };
  for (const int width : kWidths)
    for (const int height : {1, 2, 3, 9, 40}) {
      const SlackImage in(RandomImage(draw, height, width, draw.coin() ? 1 : 3));
      const BoxBlurSpec spec{radius(), radius(), draw.between(1, kMostBoxPasses)};
      std::vector<uint8_t> expected;
      for (int c = 0; c < in.image.channels; ++c)
        for (const int level : plain_box_blur(in.image.view(), c, spec))
          expected.push_back(static_cast<uint8_t>(level));
      in_every_variant([&] {
        const SlackImage out(height, width, in.image.channels);
        BoxBlurScratch scratch;
        box_blur(out.image, in.image.view(), spec, scratch);
        CHECK(out.samples() == expected);
      });
    }
}

TEST(noise_works_in_place) {
  Draw draw(2);
  const RandomImage source(draw, 7, 45, 3);
  in_every_variant([&] {
    const SlackImage in(source), beside(7, 45, 3);
    add_gaussian_noise(beside.image, in.image.view(), {0, 30, true, {5, 6}});
    add_gaussian_noise(in.image, in.image.view(), {0, 30, true, {5, 6}});
    CHECK(in.samples() == beside.samples());
  });
}

// The first block for counter 0 and key 0, as published with Random123.
static_assert(philox4x32(0, {0, 0}) == PhiloxBlock{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});

TEST(normals_count_beyond_32_bits) {
  constexpr int kNumbers = kNormalGroup * kNormalGroupsAtOnce;
  std::vector<float> expected(kNumbers);
  for (const uint64_t first : {uint64_t{0}, uint64_t{0xFFFFFFF0}, uint64_t{1} << 32}) {
    scalar::normals(expected.data(), first, kNormalGroupsAtOnce, {7, 8});
    for (const float number : expected) CHECK(std::isfinite(number));
    in_every_variant([&] {
      std::vector<float> numbers(kNumbers);
      PENSTOCK_PICK(normals)(numbers.data(), first, kNormalGroupsAtOnce, {7, 8});
      CHECK(numbers == expected);
    });
  }
}

TEST(erasing_stays_inside) {
  const Region region{2, 3, 4, 37};
  for (const Layout layout : {Layout::chw, Layout::hwc})
    for (const Element element :
         {Element::uint8, Element::float16, Element::bfloat16, Element::float32})
      in_every_variant([&] {
        GuardedOutput target(7, 41, 3, layout, element, nullptr, 5, false);
        std::memset(target.output.data, 0, 1);
        const std::vector<uint8_t> before = target.result();
        const float value[3] = {1, 2, 3};
        erase_output(target.output, {6, 40, 1, 1}, value);
        erase_output_with_noise(target.output, {0, 0, 0, 0}, {1, 2});
        erase_output_with_noise(target.output, region, {1, 2});
        const std::vector<uint8_t> after = target.result();
        size_t changed = 0;
        for (size_t i = 0; i < after.size(); ++i) changed += after[i] != before[i];
        const size_t most = (size_t{3} * 4 * 37 + 3) * size_of(element);
        CHECK(changed > most / 2 && changed <= most);
      });
}

TEST(mixing_sees_partners_as_they_were) {
  constexpr int kSlots = 7, kHeight = 5, kWidth = 19;
  constexpr int kElements = 3 * kHeight * kWidth;
  const int partners[kSlots] = {3, 1, 0, 4, 2, 6, 5};  // cycles of five, one and two slots
  Draw draw(3);
  std::vector<float> before(kSlots * kElements);
  for (float& value : before) value = static_cast<float>(draw.between(-1000, 1000)) / 64;
  std::vector<Mix> mixes(kSlots);
  for (int i = 0; i < kSlots; ++i) mixes[i] = {partners[i], MixKind::blend, 0.3f, 0.7f, {}};
  CHECK(pairs_up(mixes));

  in_every_variant([&] {
    std::vector<float> batch = before;
    BatchSlots slots;
    slots.first.data = batch.data();
    slots.first.element = Element::float32;
    slots.first.height = kHeight;
    slots.first.width = kWidth;
    slots.first.row_stride = kWidth * sizeof(float);
    slots.first.plane_stride = kHeight * slots.first.row_stride;
    slots.slot_stride = 3 * slots.first.plane_stride;
    Buffer scratch;
    mix_rows(slots, mixes, 0, 2, scratch);  // as two threads would share the rows
    mix_rows(slots, mixes, 2, kHeight - 2, scratch);
    for (int i = 0; i < kSlots; ++i)
      for (int e = 0; e < kElements; ++e) {
        const float own = before[i * kElements + e] * 0.3f;
        const float other = before[partners[i] * kElements + e] * 0.7f;
        CHECK(batch[i * kElements + e] == other + own);
      }
  });

  mixes[1].partner = 0;
  CHECK(!pairs_up(mixes));
  mixes[1].partner = kSlots;
  CHECK(!pairs_up(mixes));
}

}  // namespace
}  // namespace penstock
