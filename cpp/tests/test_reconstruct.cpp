// Every SIMD variant against the scalar oracle.
#include "base/cpu.h"
#include "check.h"
#include "codec/reconstruct.h"
#include "coefficient_image.h"

namespace penstock::testing {
namespace {

/// What the variants of one instruction set share.
struct Reconstruction {
  IdctRow idct_row;
  RgbRow rgb_row;
};

constexpr Reconstruction kScalar{scalar::idct_row, scalar::rgb_row};

std::vector<Reconstruction> variants() {
  std::vector<Reconstruction> result;
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    result.push_back({PENSTOCK_PICK(idct_row), PENSTOCK_PICK(rgb_row)});
  }
  return result;
}

using Fill = int (*)(std::mt19937& random, int position);

int fill_random(std::mt19937& random, int) { return static_cast<int16_t>(random()); }
int fill_extreme(std::mt19937& random, int) {
  constexpr int kValues[] = {-32768, -32767, -1024, -1, 0, 1, 1023, 32767};
  return kValues[random() % std::size(kValues)];
}
int fill_sparse(std::mt19937& random, int position) {
  const int value = static_cast<int>(random() % 2047) - 1023;
  return position == 0 || random() % 12 == 0 ? value : 0;
}
int fill_dc(std::mt19937& random, int position) {
  return position == 0 ? static_cast<int16_t>(random()) : 0;
}
int fill_row0(std::mt19937& random, int position) {
  return position < 8 ? static_cast<int16_t>(random()) >> (random() % 8) : 0;
}

void check_idct(const Reconstruction& variant, std::mt19937& random, int blocks, Fill fill,
                int largest_quant, bool centred) {
  BlockRow row(padded_blocks(blocks));
  for (Block& block : row)
    for (int i = 0; i < 64; ++i) block.at[i] = static_cast<int16_t>(fill(random, i));
  BlockRow expected_row = row;
  uint16_t quant[64];
  for (uint16_t& q : quant) q = static_cast<uint16_t>(1 + random() % largest_quant);

  const int stride = padded_blocks(blocks) * 8;
  std::vector<uint8_t> expected(8 * stride), samples(8 * stride);
  kScalar.idct_row(expected.data(), stride, expected_row[0].at, blocks, quant, centred);
  variant.idct_row(samples.data(), stride, row[0].at, blocks, quant, centred);
  CHECK(samples == expected);
  for (const Block& block : row)
    CHECK(std::all_of(block.at, block.at + 64, [](int16_t value) { return value == 0; }));
}

TEST(idct) {
  std::mt19937 random(1);
  for (const Reconstruction& variant : variants())
    for (const Fill fill : {fill_random, fill_extreme, fill_sparse, fill_dc, fill_row0})
      for (const int largest_quant : {1, 8, 99, 65535})
        for (int repeat = 0; repeat < 20; ++repeat)
          for (int blocks = 1; blocks <= 9; ++blocks)
            check_idct(variant, random, blocks, fill, largest_quant, repeat % 2);
}

/// Values around the limit at which libjpeg's shortcut for row 0 starts to differ.
TEST(idct_around_row0_limit) {
  std::mt19937 random(2);
  for (const Reconstruction& variant : variants())
    for (int value = 8189; value <= 8194; ++value)
      for (const int sign : {-1, 1})
        for (int position = 0; position < 8; ++position)
          for (const int other : {0, 8, 33, 63}) {
            BlockRow row(4);
            int16_t* block = row[random() % 4].at;
            block[position] = static_cast<int16_t>(sign * value);
            if (other != 0) block[other] = 1;
            BlockRow expected_row = row;
            uint16_t quant[64];
            std::fill_n(quant, 64, uint16_t{1});
            std::vector<uint8_t> expected(8 * 32), samples(8 * 32);
            kScalar.idct_row(expected.data(), 32, expected_row[0].at, 4, quant, false);
            variant.idct_row(samples.data(), 32, row[0].at, 4, quant, false);
            CHECK(samples == expected);
          }
}

/// The samples a window needs and no others, so that a read of a wrong one shows.
Planes needed_for(const Planes& whole, const Region& region) {
  Planes part;
  for (int c = 0; c < 3; ++c) {
    const SamplePlane& plane = whole.plane[c].samples;
    const auto range = [](int first, int size, int ratio, int limit) {
      return std::pair(std::max(first / ratio - (ratio > 1), 0),
                       std::min((first + size - 1) / ratio + 1 + (ratio > 1), limit));
    };
    const auto [top, bottom] = range(region.top, region.height, plane.vertical_ratio, plane.height);
    const auto [left, right] =
        range(region.left, region.width, plane.horizontal_ratio, plane.width);
    part.plane[c] = window_of(whole.plane[c], top, bottom, left, right);
  }
  return part;
}

TEST(rgb_windows) {
  std::mt19937 random(3);
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int repeat = 0; repeat < 1500; ++repeat) {
    // Luma has the largest factors; chroma any that divide them.
    const Sampling luma{draw(1, 4), draw(1, 4)};
    const auto divisor = [&draw](int factor) {
      int result = draw(1, factor);
      while (factor % result != 0) --result;
      return result;
    };
    const Sampling factors[3] = {luma,
                                 {divisor(luma.horizontal), divisor(luma.vertical)},
                                 {divisor(luma.horizontal), divisor(luma.vertical)}};
    const int height = draw(1, 24), width = draw(1, repeat % 3 == 0 ? 300 : 40);
    const CoefficientImage image = random_image(random, height, width, factors, Content::dense);
    const Planes whole = transform(image, scalar::idct_row);
    const std::vector<uint8_t> full = to_rgb(whole, scalar::rgb_row, {0, 0, height, width});

    Region region;
    region.top = draw(0, height - 1);
    region.left = draw(0, width - 1);
    region.height = draw(1, height - region.top);
    region.width = draw(1, width - region.left);
    std::vector<uint8_t> expected;
    for (int y = region.top; y < region.top + region.height; ++y)
      for (int channel = 0; channel < 3; ++channel) {
        const auto from = full.begin() + (3 * y + channel) * width + region.left;
        expected.insert(expected.end(), from, from + region.width);
      }
    const Planes part = needed_for(whole, region);
    for (const Reconstruction& variant : variants())
      CHECK(to_rgb(part, variant.rgb_row, region) == expected);
  }
}

/// All combinations of luma, blue and red chroma.
TEST(all_colours) {
  Planes planes;
  for (Plane& plane : planes.plane) {
    plane.bytes.resize(256 + 2 * kRowSlack);
    plane.samples.origin = plane.bytes.data() + kRowSlack;
    plane.samples.height = 1;
    plane.samples.width = 256;
  }
  const auto set = [&planes](int c, int x, int value) {
    planes.plane[c].bytes[kRowSlack + x] = static_cast<uint8_t>(value);
  };
  for (int x = 0; x < 256; ++x) set(2, x, x);
  for (int luma = 0; luma < 256; ++luma)
    for (int blue = 0; blue < 256; ++blue) {
      for (int x = 0; x < 256; ++x) set(0, x, luma), set(1, x, blue);
      const std::vector<uint8_t> expected = to_rgb(planes, scalar::rgb_row, {0, 0, 1, 256});
      for (const Reconstruction& variant : variants())
        CHECK(to_rgb(planes, variant.rgb_row, {0, 0, 1, 256}) == expected);
    }
}

TEST(can_upsample) {
  CHECK(can_upsample(1, 1) && can_upsample(2, 2) && can_upsample(4, 1) && can_upsample(3, 4));
  CHECK(!can_upsample(0, 1) && !can_upsample(1, 0) && !can_upsample(5, 1) && !can_upsample(-1, 2));
}

}  // namespace
}  // namespace penstock::testing
