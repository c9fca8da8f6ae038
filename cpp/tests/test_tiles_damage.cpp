// Damaged records: an error or other pixels, the same by every instruction set, and never a fault.
#include "base/cpu.h"
#include "tile_cases.h"

namespace penstock::testing {
namespace {

using Record = std::vector<uint8_t>;

struct Outcome {
  DecodeStatus status = DecodeStatus::ok;
  std::string message;
  Pixels pixels;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome decode_damaged(const TileImage& image, const Region& region, TileScratch& scratch) {
  CollectRows sink;
  const DecodeResult result = decode_tiles(sink, image, region, scratch);
  CHECK((result.status == DecodeStatus::ok) == result.message.empty());
  return {result.status, result.message, sink.pixels()};
}

/// Returns whether the record still could be decoded. The record's memory ends with its last byte,
/// so that sanitizers see every stray read.
bool check_damaged(const Record& record, std::mt19937& random, TileScratch& scratch) {
  TileImage image;
  if (image.parse(record) != nullptr) return false;
  if (int64_t{image.height()} * image.width() > 200'000) return false;
  const Region region = random_region(random, image.height(), image.width());
  force_isa(Isa::scalar);
  const Outcome expected = decode_damaged(image, region, scratch);
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    CHECK(decode_damaged(image, region, scratch) == expected);
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

void test_truncations(const Record& record) {
  for (size_t size = 0; size < record.size(); ++size) {
    const Record shorter(record.begin(), record.begin() + static_cast<ptrdiff_t>(size));
    TileImage image;
    CHECK(image.parse(shorter) != nullptr);
  }
}

/// Some bytes are replaced, half of the time near the start, where the header and the table are.
int test_corruptions(const Record& record, int rounds, std::mt19937& random, TileScratch& scratch) {
  int decoded = 0;
  for (int round = 0; round < rounds; ++round) {
    Record damaged = record;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) {
      const bool near_start = random() % 2 == 0;
      const size_t range = near_start ? std::min<size_t>(record.size(), 300) : record.size();
      damaged[random() % range] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    decoded += check_damaged(damaged, random, scratch);
  }
  return decoded;
}

/// Two tiles' lengths are changed so that they still add up.
void test_shifted_tiles(const Record& record, std::mt19937& random, TileScratch& scratch) {
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
    check_damaged(damaged, random, scratch);
  }
}

}  // namespace
}  // namespace penstock::testing

int main() {
  using namespace penstock::testing;
  std::mt19937 random(11);
  penstock::TileScratch scratch;
  int decoded = 0;
  for (const std::vector<uint8_t>& record : small_records()) {
    test_truncations(record);
    test_shifted_tiles(record, random, scratch);
    decoded += test_corruptions(record, 1500, random, scratch);
  }
  CHECK(decoded > 1000);
}
