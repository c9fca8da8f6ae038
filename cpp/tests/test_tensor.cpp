// Kernels on tensors: every variant writes what the scalar one writes, in memory without slack. The
// results are compared with torch's in tests/transforms/functional/test_native_tensors.py.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/cpu.h"
#include "check.h"
#include "kernels/tensor/convolve.h"
#include "kernels/tensor/resize.h"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/values.h"
#include "random_image.h"

namespace penstock {
namespace {

std::vector<float> random_floats(Draw& draw, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(draw.between(-300, 1300)) / 1000;
  return values;
}

std::vector<uint8_t> random_levels(Draw& draw, size_t count) {
  std::vector<uint8_t> levels(count);
  for (uint8_t& level : levels) level = static_cast<uint8_t>(draw.between(0, 255));
  return levels;
}

/// The same bits; any NaN is like any other.
bool is_same(float a, float b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }
bool is_same(uint8_t a, uint8_t b) { return a == b; }

/// What `write` writes into `count` values, by the scalar kernel and by each variant.
template <class T, class Write>
void check_variants(size_t count, Write write) {
  std::vector<T> wanted(count);
  force_isa(Isa::scalar);
  write(wanted.data());
  in_every_variant([&] {
    std::vector<T> got(count);
    write(got.data());
    for (size_t i = 0; i < count; ++i) CHECK(is_same(got[i], wanted[i]));
  });
}

template <class T>
Colours<T> colours_in(T* first, size_t pixels, bool interleaved) {
  const size_t next = interleaved ? 1 : pixels;
  return {{first, first + next, first + 2 * next}, interleaved ? 3 : 1};
}

TEST(values_are_mapped_alike) {
  constexpr ValueMap kMaps[] = {ValueMap::scale, ValueMap::blend, ValueMap::solarize,
                                ValueMap::posterize, ValueMap::normalize};
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    auto values = random_floats(draw, static_cast<size_t>(draw.between(1, 700)));
    values[0] = std::numeric_limits<float>::quiet_NaN();
    values.back() = -std::numeric_limits<float>::infinity();
    for (const ValueMap map : kMaps) {
      const MapNumbers numbers{map == ValueMap::posterize ? 16.0f : 0.7f, 0.0625f, 0.3f};
      check_variants<float>(values.size(), [&](float* to) {
        PENSTOCK_PICK(map_values)(to, values.data(), values.size(), map, numbers);
      });
    }
  }
}

TEST(values_are_mapped_in_place) {
  Draw draw(1);
  const auto values = random_floats(draw, 301);
  check_variants<float>(values.size(), [&](float* to) {
    std::copy(values.begin(), values.end(), to);
    PENSTOCK_PICK(map_values)(to, to, values.size(), ValueMap::scale, {1.3f, 0, 0});
  });
}

TEST(planes_are_stretched_alike) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    auto values = random_floats(draw, static_cast<size_t>(draw.between(1, 400)));
    if (seed % 5 == 0) std::fill(values.begin(), values.end(), 0.25f);
    check_variants<float>(values.size(), [&](float* to) {
      CHECK(PENSTOCK_PICK(stretch_plane)(to, values.data(), values.size()));
    });
    values[values.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    in_every_variant([&] {
      std::vector<float> untouched(values.size(), 7.0f);
      CHECK(!PENSTOCK_PICK(stretch_plane)(untouched.data(), values.data(), values.size()));
      for (const float value : untouched) CHECK(value == 7.0f);
    });
  }
}

TEST(colours_change_alike) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const auto pixels = static_cast<size_t>(draw.between(1, 600));
    const bool interleaved = draw.coin();
    const auto floats = random_floats(draw, 3 * pixels);
    const auto levels = random_levels(draw, 3 * pixels);
    const auto of_floats = colours_in(floats.data(), pixels, interleaved);
    const auto of_levels = colours_in(levels.data(), pixels, interleaved);
    check_variants<float>(pixels,
                          [&](float* to) { PENSTOCK_PICK(gray_of_floats)(to, of_floats, pixels); });
    check_variants<float>(pixels,
                          [&](float* to) { PENSTOCK_PICK(gray_of_levels)(to, of_levels, pixels); });
    check_variants<uint8_t>(
        pixels, [&](uint8_t* to) { PENSTOCK_PICK(gray_levels)(to, of_levels, pixels); });
    for (const bool to_interleaved : {false, true}) {
      check_variants<float>(3 * pixels, [&](float* to) {
        const auto target = colours_in(to, pixels, to_interleaved);
        PENSTOCK_PICK(saturate_floats)(target, of_floats, pixels, 1.3f, 1.0f - 1.3f);
      });
      check_variants<uint8_t>(3 * pixels, [&](uint8_t* to) {
        const auto target = colours_in(to, pixels, to_interleaved);
        PENSTOCK_PICK(saturate_levels)(target, of_levels, pixels, 0.3f, 0.7f);
      });
      check_variants<float>(3 * pixels, [&](float* to) {
        const auto target = colours_in(to, pixels, to_interleaved);
        PENSTOCK_PICK(turn_hue_of_floats)(target, of_floats, pixels, -0.4f);
      });
      check_variants<uint8_t>(3 * pixels, [&](uint8_t* to) {
        const auto target = colours_in(to, pixels, to_interleaved);
        PENSTOCK_PICK(turn_hue_of_levels)(target, of_levels, pixels, 0.2f);
      });
    }
  }
}

TEST(planes_are_convolved_alike) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const int sides[2] = {draw.between(1, 9), draw.between(1, 9)};
    const int height = sides[0] + draw.between(0, 9), width = sides[1] + draw.between(0, 150);
    const auto weights = random_floats(draw, static_cast<size_t>(sides[0]) * sides[1]);
    const auto values = random_floats(draw, static_cast<size_t>(height) * width);
    const size_t count = static_cast<size_t>(height - sides[0] + 1) * (width - sides[1] + 1);
    check_variants<float>(count, [&](float* to) {
      PENSTOCK_PICK(convolve_plane)
      (to, values.data(), height, width, {weights.data(), sides[0], sides[1]});
    });
  }
}

TEST(floats_are_resized_alike) {
  FloatResizeScratch scratch;  // shared, so that what one image leaves behind meets the next
  for (unsigned seed = 0; seed < 120; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 60), width = draw.between(1, 60);
    const int out_height = draw.between(0, 5) ? draw.between(1, 60) : height;
    const int out_width = draw.between(0, 5) ? draw.between(1, 60) : width;
    const auto values = random_floats(draw, static_cast<size_t>(height) * width);
    const bool by_columns = draw.coin();
    const PlaneSource source{values.data(), height, width, by_columns ? 1 : width,
                             by_columns ? height : 1};
    const Filter filter = draw.coin() ? Filter::bilinear : Filter::bicubic;
    check_variants<float>(static_cast<size_t>(out_height) * out_width, [&](float* to) {
      FloatResize(height, width, out_height, out_width, filter, scratch).run(to, source);
    });
  }
}

SampleGrid draw_grid(Draw& draw, int height, int width) {
  const auto number = [&draw] { return static_cast<float>(draw.between(-1500, 1500)) / 1000; };
  SampleGrid grid;
  grid.in_height = height;
  grid.in_width = width;
  grid.out_height = draw.between(1, 12);
  grid.out_width = draw.between(1, 2 * kSampleBlock + 9);
  grid.is_perspective = draw.coin();
  grid.fused = draw.coin();
  for (int i = 0; i < 3; ++i) {
    const float scale = i == 2 ? 1.0f : 2.0f / static_cast<float>(width + height);
    grid.across[i] = number() * scale;
    grid.down[i] = number() * scale;
    grid.depth[i] = number() * scale;  // which may be 0 or below: places are infinite or no numbers
  }
  return grid;
}

template <class T>
void check_sampling(Draw& draw, const std::vector<T>& values, int height, int width, int channels) {
  const ptrdiff_t pixels = static_cast<ptrdiff_t>(height) * width;
  SampleSource<T> source{values.data(), channels, pixels, width, 1};
  if (draw.coin()) source = {values.data(), channels, 1, ptrdiff_t{width} * channels, channels};
  const SampleGrid grid = draw_grid(draw, height, width);
  SampleFill fill;
  fill.has_fill = draw.coin();
  for (float& colour : fill.colour) colour = static_cast<float>(draw.between(0, 510)) / 2;
  const bool bilinear = draw.coin();
  SampleScratch scratch;
  check_variants<T>(static_cast<size_t>(channels) * grid.out_height * grid.out_width,
                    [&](T* to) { sample_grid(to, source, grid, bilinear, fill, scratch); });
}

TEST(grids_are_sampled_alike) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 30), width = draw.between(1, 30);
    const int channels = draw.coin() ? 3 : 1;
    const size_t count = static_cast<size_t>(channels) * height * width;
    check_sampling(draw, random_levels(draw, count), height, width, channels);
    check_sampling(draw, random_floats(draw, count), height, width, channels);
  }
}

/// Rows of a matrix that leave each pixel where it is.
SampleGrid identity_grid(int height, int width) {
  SampleGrid grid;
  grid.in_height = grid.out_height = height;
  grid.in_width = grid.out_width = width;
  grid.first_x = static_cast<float>(1 - width) / 2;
  grid.first_y = static_cast<float>(1 - height) / 2;
  grid.across[0] = 2.0f / static_cast<float>(width);
  grid.down[1] = 2.0f / static_cast<float>(height);
  return grid;
}

TEST_EACH_ISA(nothing_moves_in_the_identity_grid) {
  Draw draw(3);
  SampleScratch scratch;
  for (const int side : {1, 2, 16, 64}) {
    const auto levels = random_levels(draw, static_cast<size_t>(3) * side * side);
    const SampleSource<uint8_t> source{levels.data(), 3, ptrdiff_t{side} * side, side, 1};
    for (const bool bilinear : {false, true}) {
      std::vector<uint8_t> got(levels.size());
      sample_grid(got.data(), source, identity_grid(side, side), bilinear, {}, scratch);
      CHECK(got == levels);
    }
  }
}

}  // namespace
}  // namespace penstock
