// The inverse DCT of sparse blocks: every variant against blocks written out, by the scalar oracle.
#include <algorithm>
#include <random>
#include <vector>

#include "check.h"
#include "codec/reconstruct.h"
#include "codec/zigzag.h"

namespace penstock::testing {
namespace {

/// Some blocks in both forms.
struct Blocks {
  int16_t dc[kBlockGroup];
  uint64_t mask[kBlockGroup] = {};
  uint16_t first[kBlockGroup];
  std::vector<int8_t> values, high;
  alignas(64) int16_t written_out[kBlockGroup][64] = {};

  SparseBlocks sparse(bool is_wide) const {
    return {dc, mask, first, values.data(), is_wide ? high.data() : nullptr};
  }
};

/// Coefficients other than zero at positions before `end`, with a chance of one in `rarity`.
Blocks make_blocks(std::mt19937& random, int end, int rarity, int largest, int largest_dc) {
  const auto up_to = [&random](int most) {
    const int value = 1 + static_cast<int>(random() % static_cast<unsigned>(most));
    return random() % 2 ? value : -value;
  };
  Blocks blocks;
  for (int b = 0; b < kBlockGroup; ++b) {
    blocks.first[b] = static_cast<uint16_t>(blocks.values.size());
    blocks.dc[b] = static_cast<int16_t>(up_to(largest_dc));
    blocks.written_out[b][0] = blocks.dc[b];
    for (int position = 1; position < end; ++position) {
      if (random() % static_cast<unsigned>(rarity) != 0) continue;
      const int value = up_to(largest);
      blocks.mask[b] |= uint64_t{1} << position;
      blocks.values.push_back(static_cast<int8_t>(value));
      blocks.high.push_back(static_cast<int8_t>(value >> 8));
      blocks.written_out[b][kNaturalOrder[position]] = static_cast<int16_t>(value);
    }
  }
  // What lies behind the values is read, and must not matter.
  blocks.values.insert(blocks.values.end(), 64, int8_t{85});
  blocks.high.insert(blocks.high.end(), 64, int8_t{85});
  return blocks;
}

void check(const Blocks& blocks, bool is_wide, const uint16_t (&quant)[64], bool centred) {
  constexpr int kStride = 8 * kBlockGroup;
  std::vector<uint8_t> expected(8 * kStride), samples(8 * kStride);
  for (int b = 0; b < kBlockGroup; ++b)
    scalar::idct_block(expected.data() + 8 * b, kStride, blocks.written_out[b], quant, centred);
  PENSTOCK_PICK(sparse_idct)
  (samples.data(), kStride, blocks.sparse(is_wide), 0, SparseQuant(quant), centred);
  CHECK(samples == expected);
}

void fill(std::mt19937& random, uint16_t (&quant)[64], int largest) {
  for (uint16_t& q : quant)
    q = static_cast<uint16_t>(1 + random() % static_cast<unsigned>(largest));
}

TEST_EACH_ISA(sparse_idct) {
  std::mt19937 random(1);
  uint16_t quant[64];
  for (const int end : {1, 2, 5, 10, 11, 15, 25, 26, 40, 64})
    for (const int rarity : {1, 2, 8, 40})
      for (const int largest_quant : {1, 20, 255, 256, 65535})
        for (const int largest_dc : {100, 1023, 32767})
          for (int repeat = 0; repeat < 6; ++repeat) {
            fill(random, quant, largest_quant);
            const bool centred = repeat % 2 != 0;
            check(make_blocks(random, end, rarity, 127, largest_dc), false, quant, centred);
            check(make_blocks(random, end, rarity, 127, largest_dc), true, quant, centred);
            check(make_blocks(random, end, rarity, 2047, largest_dc), true, quant, centred);
            check(make_blocks(random, end, rarity, 32767, largest_dc), true, quant, centred);
          }
}

/// One coefficient alone at each position, of any size that a byte can have.
TEST_EACH_ISA(sparse_idct_of_single_coefficients) {
  std::mt19937 random(2);
  uint16_t quant[64];
  for (const int largest_quant : {64, 255, 1000})
    for (int position = 1; position < 64; ++position)
      for (const int value : {-128, -127, -1, 1, 126, 127}) {
        fill(random, quant, largest_quant);
        Blocks blocks = make_blocks(random, 1, 1, 1, 1023);
        const int b = static_cast<int>(random() % kBlockGroup);
        blocks.mask[b] = uint64_t{1} << position;
        blocks.values.insert(blocks.values.begin(), static_cast<int8_t>(value));
        blocks.written_out[b][kNaturalOrder[position]] = static_cast<int16_t>(value);
        for (int later = b + 1; later < kBlockGroup; ++later) blocks.first[later] = 1;
        check(blocks, false, quant, position % 2 != 0);
      }
}

}  // namespace
}  // namespace penstock::testing
