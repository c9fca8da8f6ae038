// The reduced inverse DCTs against their definition in floating point, and every variant against
// the scalar one.
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/cpu.h"
#include "check.h"
#include "codec/reconstruct.h"
#include "coefficient_image.h"

namespace penstock::testing {
namespace {

/// Samples of a block by the definition: the lowest size x size frequencies, as an image of that
/// size has them.
double defined_sample(const int16_t* block, const uint16_t* quant, int size, int y, int x) {
  const auto wave = [size](int frequency, int position) {
    const double angle = (2 * position + 1) * frequency * std::numbers::pi / (2 * size);
    return frequency == 0 ? 1.0 : std::numbers::sqrt2 * std::cos(angle);
  };
  double sum = 0;
  for (int v = 0; v < size; ++v)
    for (int u = 0; u < size; ++u)
      sum += block[8 * v + u] * quant[8 * v + u] * wave(v, y) * wave(u, x);
  return sum / 8;
}

using Quant = std::array<uint16_t, 64>;

Quant random_quant(std::mt19937& random, unsigned largest) {
  Quant quant;
  for (uint16_t& q : quant) q = static_cast<uint16_t>(1 + random() % largest);
  return quant;
}

BlockRow random_blocks(std::mt19937& random, int blocks, int largest, int size) {
  BlockRow row(padded_blocks(blocks));
  for (Block& block : row)
    for (int i = 0; i < 64; ++i) {
      const int value = static_cast<int>(random() % (2 * largest + 1)) - largest;
      if (i == 0 || (size > 1 && random() % 3 == 0)) block.at[i] = static_cast<int16_t>(value);
    }
  return row;
}

std::vector<uint8_t> transformed(IdctRow idct_row, BlockRow& row, int blocks, int size,
                                 const Quant& quant, bool centred) {
  const int stride = padded_blocks(blocks) * size;
  std::vector<uint8_t> samples(size * stride);
  idct_row(samples.data(), stride, row[0].at, blocks, quant.data(), centred);
  for (const Block& block : row)
    CHECK(std::all_of(block.at, block.at + 64, [](int16_t value) { return value == 0; }));
  return samples;
}

void check_definition(std::mt19937& random, int size, bool centred) {
  constexpr int kBlocks = 37;
  const Quant quant = random_quant(random, 12);
  const BlockRow blocks = random_blocks(random, kBlocks, 40, size);
  BlockRow row = blocks;
  const std::vector<uint8_t> samples =
      transformed(idct_row_to(size, size), row, kBlocks, size, quant, centred);
  const int stride = padded_blocks(kBlocks) * size;
  for (int b = 0; b < kBlocks; ++b)
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        const double exact =
            std::clamp(defined_sample(blocks[b].at, quant.data(), size, y, x), -128.0, 127.0);
        const uint8_t stored = samples[y * stride + b * size + x];
        const int sample = centred ? static_cast<int8_t>(stored) : stored - 128;
        CHECK(std::abs(sample - exact) < 1);
      }
}

TEST_EACH_ISA(definition) {
  std::mt19937 random(3);
  for (const int size : {1, 2, 4})
    for (int repeat = 0; repeat < 20; ++repeat) check_definition(random, size, repeat % 2 == 0);
}

void check_variants(std::mt19937& random, int size) {
  for (const int blocks : {1, 3, 4, 5, 64, 65})
    for (const int largest : {1, 60, 2000, 32767})
      for (const bool centred : {false, true}) {
        const Quant quant = random_quant(random, 65535);
        const BlockRow given = random_blocks(random, blocks, largest, size);
        BlockRow row = given;
        force_isa(Isa::scalar);
        const std::vector<uint8_t> expected =
            transformed(idct_row_to(size, size), row, blocks, size, quant, centred);
        for (const Isa isa : supported_isas()) {
          force_isa(isa);
          row = given;
          CHECK(transformed(idct_row_to(size, size), row, blocks, size, quant, centred) ==
                expected);
        }
      }
}

TEST(variants) {
  std::mt19937 random(4);
  for (const int size : {1, 2, 4}) check_variants(random, size);
}

/// Blocks that are not square are averages of square ones.
void check_halved(std::mt19937& random, int size, bool halves_rows, bool centred) {
  constexpr int kBlocks = 9;
  const Quant quant = random_quant(random, 12);
  const BlockRow given = random_blocks(random, kBlocks, 40, size);
  const int height = halves_rows ? size / 2 : size, width = halves_rows ? size : size / 2;
  const int stride = padded_blocks(kBlocks) * width;
  BlockRow row = given;
  const std::vector<uint8_t> square =
      transformed(idct_row_to(size, size), row, kBlocks, size, quant, centred);
  row = given;
  std::vector<uint8_t> halved(height * stride);
  idct_row_to(height, width)(halved.data(), stride, row[0].at, kBlocks, quant.data(), centred);
  const auto level = [centred](uint8_t sample) {
    return centred ? static_cast<int8_t>(sample) : sample;
  };
  const int square_stride = padded_blocks(kBlocks) * size;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < stride; ++x) {
      const uint8_t* first =
          square.data() + (halves_rows ? 2 * y * square_stride + x : y * square_stride + 2 * x);
      const int sum = level(first[0]) + level(first[halves_rows ? square_stride : 1]);
      CHECK(level(halved[y * stride + x]) == (sum + 1) >> 1);
    }
}

TEST(halved) {
  std::mt19937 random(5);
  for (const int size : {2, 4, 8})
    for (const bool halves_rows : {false, true})
      for (const bool centred : {false, true}) check_halved(random, size, halves_rows, centred);
}

}  // namespace
}  // namespace penstock::testing
