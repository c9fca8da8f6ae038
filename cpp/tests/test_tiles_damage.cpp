// Damaged records: an error or other pixels, the same by every instruction set, and never a fault.
#include "base/cpu.h"
#include "tile_cases.h"

namespace penstock::testing {
namespace {

using Record = std::vector<uint8_t>;

TileScratch scratch;  // shared, so that what one image leaves behind meets the next

struct Outcome {
  DecodeStatus status = DecodeStatus::ok;
  std::string message;
  Pixels pixels;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome decode_damaged(const TileImage& image, const Region& region) {
  CollectRows sink;
  const DecodeResult result = decode_tiles(sink, image, region, scratch);
  CHECK((result.status == DecodeStatus::ok) == result.message.empty());
  return {result.status, result.message, sink.pixels()};
}

/// Returns whether the record still could be decoded. The record's memory ends with its last byte,
/// so that sanitizers see every stray read.
bool check_damaged(const Record& record, std::mt19937& random) {
  TileImage image;
  if (image.parse(record) != nullptr) return false;
  if (int64_t{image.height()} * image.width() > 200'000) return false;
  const Region region = random_region(random, image.height(), image.width());
  force_isa(Isa::scalar);
  const Outcome expected = decode_damaged(image, region);
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    CHECK(decode_damaged(image, region) == expected);
  }
  return expected.status == DecodeStatus::ok;
}

std::vector<Record> small_records() {
  std::mt19937 random(7);
  std::vector<Record> records;
  for (const int bits : {2, 6, 9, 15})
    for (const Factors& factors : {kFactors[0], kFactors[3], kFactors[4]})
      records.push_back(record_of(random_coefficients(
          random, 37, 141, factors, bits == 6 ? Colour::rgb : Colour::ycbcr, bits)));
  records.push_back(record_of(random_coefficients(random, 20, 70, {}, Colour::gray, 8)));
  return records;
}

TEST(truncations) {
  for (const Record& record : small_records()) {
    for (size_t size = 0; size < record.size(); ++size) {
      const Record shorter(record.begin(), record.begin() + static_cast<ptrdiff_t>(size));
      TileImage image;
      CHECK(image.parse(shorter) != nullptr);
    }
  }
}

TEST(corruptions) {
  std::mt19937 random(11);
  int decoded = 0;
  for (const Record& record : small_records())
    for (int round = 0; round < 1500; ++round) {
      const Record damaged = with_changes(record, 3, 300, random, [&](uint8_t& byte) {
        byte ^= static_cast<uint8_t>(1u << random() % 8);
      });
      decoded += check_damaged(damaged, random);
    }
  CHECK(decoded > 1000);
}

/// Two tiles' lengths are changed so that they still add up.
TEST(shifted_tiles) {
  std::mt19937 random(12);
  for (const Record& record : small_records()) {
    TileImage image;
    CHECK(image.parse(record) == nullptr);
    const size_t tiles = size_t{1} * image.grid().rows() * image.grid().columns();
    const size_t lengths_at = static_cast<size_t>(image.tile_row(0) - record.data()) - 2 * tiles;
    for (int round = 0; round < 200; ++round) {
      Record damaged = record;
      const size_t a = lengths_at + 2 * (random() % tiles), b = lengths_at + 2 * (random() % tiles);
      if (damaged[a] == 0 || damaged[b] == 255) continue;
      --damaged[a];
      ++damaged[b];
      check_damaged(damaged, random);
    }
  }
}

}  // namespace
}  // namespace penstock::testing
