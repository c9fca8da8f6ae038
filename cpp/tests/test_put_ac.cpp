// Every variant writes a block's coefficients as the one that takes code after code.
#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "check.h"
#include "codec/jpeg_tables.h"
#include "codec/restore/ac_codes.h"
#include "codec/restore/standard_tables.h"
#include "codec/zigzag.h"

namespace {

using namespace penstock;

using Blocks = std::vector<int16_t>;

struct Written {
  std::vector<uint8_t> bytes;
  bool all_have_codes = true;
  bool operator==(const Written&) const = default;
};

/// `before` bits wait when the first block comes.
Written write(const AcCodes& codes, const Blocks& blocks, int before) {
  constexpr size_t kMostBlockBytes = 64 * 4;
  Written written;
  written.bytes.resize(blocks.size() / 64 * kMostBlockBytes + 64);
  EntropyWriter writer(written.bytes.data());
  writer.put(0, before);
  for (size_t i = 0; i < blocks.size(); i += 64) {
    writer.put(1, 3);
    if (!PENSTOCK_PICK(put_ac)(writer, codes, blocks.data() + i)) written.all_have_codes = false;
  }
  writer.pad(true);
  written.bytes.resize(writer.position() - written.bytes.data());
  if (!written.all_have_codes) written.bytes.clear();
  return written;
}

void check_variants(const AcCodes& codes, const Blocks& blocks, bool all_have_codes = true) {
  for (const int before : {0, 1, 7, 8, 31}) {
    force_isa(Isa::scalar);
    const Written expected = write(codes, blocks, before);
    CHECK(expected.all_have_codes == all_have_codes);
    in_every_variant([&] { CHECK(write(codes, blocks, before) == expected); });
  }
}

/// The standard's table for luma. It has no codes for values of more than ten bits.
AcCodes standard_codes() {
  JpegHeader header;
  constexpr size_t kFirst = 33 + 4;  // behind the table for DC and the head of the segment
  constexpr size_t kBody = 181 - 2;
  CHECK(read_huffman_tables(header, standard_huffman_segments().subspan(kFirst, kBody)));
  AcCodes codes;
  build_ac_codes(codes, header.ac[0]);
  return codes;
}

/// A code of `bits` bits for every symbol; nobody could read them, but they are written alike.
AcCodes long_codes(int bits) {
  AcCodes codes{};
  for (int symbol = 0; symbol < 256; ++symbol) {
    codes.codes.of[symbol] = {static_cast<uint16_t>(symbol * 0x95 & 0xFFFF >> (16 - bits)),
                              static_cast<uint16_t>(bits)};
    codes.low[symbol] = static_cast<uint8_t>(codes.codes.of[symbol].code);
    codes.high[symbol] = static_cast<uint8_t>(codes.codes.of[symbol].code >> 8);
    codes.bits[symbol] = static_cast<uint8_t>(bits);
  }
  return codes;
}

/// Blocks in which one in `gap` coefficients is not zero, and of these none is beyond `most`.
Blocks random_blocks(int count, int gap, int most, unsigned seed) {
  std::mt19937 random(seed);
  Blocks blocks(size_t{64} * count);
  for (int16_t& coefficient : blocks)
    if (random() % gap == 0)
      coefficient = static_cast<int16_t>(static_cast<int>(random() % (2 * most + 1)) - most);
  return blocks;
}

TEST(random_blocks) {
  unsigned seed = 0;
  for (const AcCodes& codes : {standard_codes(), long_codes(1), long_codes(8), long_codes(16)})
    for (const int gap : {1, 2, 4, 10, 30, 100})
      for (const int most : {1, 2, 60, 127, 128, 1023})
        check_variants(codes, random_blocks(50, gap, most, seed++));
}

TEST(every_run_and_every_position) {
  const AcCodes codes = standard_codes();
  for (int first = 1; first < 64; ++first)
    for (int second = first; second < 64; ++second) {
      Blocks block(64);
      block[0] = -700;
      block[kNaturalOrder[first]] = -1;
      block[kNaturalOrder[second]] = 5;
      check_variants(codes, block);
    }
  check_variants(codes, Blocks(64));
}

TEST(every_value) {
  const AcCodes codes = long_codes(16);
  for (int value = -32767; value <= 32767; value += value < -300 || value > 300 ? 61 : 1) {
    Blocks block(64);
    block[kNaturalOrder[3]] = static_cast<int16_t>(value);
    block[kNaturalOrder[63]] = 1;
    check_variants(codes, block);
  }
}

TEST(what_has_no_code) {
  AcCodes codes = standard_codes();
  Blocks block(64);
  block[kNaturalOrder[5]] = -32768;
  check_variants(long_codes(8), block, false);
  block[kNaturalOrder[5]] = 1024;  // eleven bits
  check_variants(codes, block, false);

  block[kNaturalOrder[5]] = 3;
  check_variants(codes, block);
  const auto forget = [&codes](int symbol) {
    codes.codes.of[symbol] = {0, 0};
    codes.low[symbol] = codes.high[symbol] = codes.bits[symbol] = 0;
  };
  forget(kEndOfBlockSymbol);
  check_variants(codes, block, false);
  block[kNaturalOrder[63]] = 1;  // then there is no end of block
  check_variants(codes, block);
  forget(kZeroRunSymbol);
  check_variants(codes, block, false);
  codes = standard_codes();
  forget(4 << 4 | 2);
  check_variants(codes, block, false);
}

}  // namespace
