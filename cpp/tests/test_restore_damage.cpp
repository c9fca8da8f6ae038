// Damaged sections and records give an error or another file, and never touch foreign memory.
#include <zlib.h>

#include <random>
#include <vector>

#include "check.h"
#include "codec/restore/deflate.h"
#include "codec/restore/literals.h"
#include "codec/restore/patches.h"
#include "codec/restore/section.h"
#include "jpeg_cases.h"
#include "make_jpeg.h"
#include "records/jpeg_record.h"

namespace {

using namespace penstock;
using namespace penstock::testing;

using Bytes = std::vector<uint8_t>;

Bytes record_of(const Bytes& jpeg) {
  RecordScratch scratch;
  JpegRecord record = encode_record(jpeg, scratch);
  CHECK(record.is_dct && record.is_identical);
  return record.dct;
}

std::vector<Bytes> sample_jpegs() {
  JpegSpec spec = spec_of(30, 40, kFactors[3]);
  std::vector<Bytes> jpegs = {make_jpeg(spec, 1)};
  spec.restart_interval = 2;
  jpegs.push_back(make_jpeg(spec, 2));
  spec.progressive = true;
  jpegs.push_back(make_jpeg(spec, 3));
  return jpegs;
}

TEST(records_round_trip) {
  for (const Bytes& jpeg : sample_jpegs()) {
    RecordScratch scratch;
    Bytes file;
    CHECK(rebuild_file(file, record_of(jpeg), scratch) == nullptr);
    CHECK(file == jpeg);
  }
}

TEST(flipped_bits) {
  std::mt19937 random(7);
  RecordScratch scratch;
  for (const Bytes& jpeg : sample_jpegs()) {
    const Bytes record = record_of(jpeg);
    for (int i = 0; i < 2000; ++i) {
      Bytes damaged = record;
      damaged[random() % damaged.size()] ^= static_cast<uint8_t>(1 << random() % 8);
      Bytes file;
      rebuild_file(file, damaged, scratch);
    }
  }
}

TEST(cut_sections) {
  for (const Bytes& jpeg : sample_jpegs()) {
    RestoreSection section;
    CHECK(take_literals(section.literals, jpeg) == nullptr);
    Bytes bytes;
    write_section(bytes, section);
    for (size_t size = 0; size < bytes.size(); ++size) {
      RestoreSection read;
      CHECK(read_section(read, std::span(bytes).first(size)) != nullptr);
    }
    bytes.push_back(0);
    RestoreSection read;
    CHECK(read_section(read, bytes) != nullptr);
  }
}

TEST(hostile_sizes) {
  for (const Bytes& bytes :
       {Bytes{0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 3, 0},
        Bytes{0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 3, 0},
        Bytes{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, Bytes{4, 0, 0, 3, 0},
        Bytes{}}) {
    RestoreSection section;
    CHECK(read_section(section, bytes) != nullptr);
  }
}

/// Literals with damaged segments, on coefficients that fit the frame.
TEST(damaged_literals) {
  std::mt19937 random(8);
  RecordScratch scratch;
  for (const Bytes& jpeg : sample_jpegs()) {
    RestoreSection section;
    CHECK(take_literals(section.literals, jpeg) == nullptr);
    CHECK(encode_record(jpeg, scratch).is_dct);
    for (int i = 0; i < 4000; ++i) {
      Bytes damaged = section.literals;
      for (unsigned hits = 1 + random() % 3; hits > 0; --hits)
        damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      Bytes file;
      GrowingFile target{file};
      ScanScratch scan;
      write_file(target, damaged, scratch.image, true, scan);
    }
  }
}

/// Part of the format: sections that were written with it must stay readable.
TEST(dictionary_never_changes) {
  const Bytes& dictionary = header_dictionary();
  CHECK(dictionary.size() == 14464);
  CHECK(crc32(0, dictionary.data(), static_cast<uInt>(dictionary.size())) == 0x1568D98B);
}

TEST(patches) {
  const Bytes rebuilt = {1, 2, 3, 4, 5, 6};
  const Bytes original = {1, 9, 9, 4, 5, 8};
  Bytes patches;
  CHECK(find_patches(patches, rebuilt, original));
  CHECK((patches == Bytes{1, 2, 9, 9, 2, 1, 8}));
  Bytes file = rebuilt;
  CHECK(apply_patches(file, patches) && file == original);
  CHECK(!find_patches(patches, rebuilt, std::span(original).first(5)));
  for (const Bytes& bad :
       {Bytes{6, 1, 0}, Bytes{0, 7, 1, 2, 3, 4, 5, 6, 7}, Bytes{0, 2, 1}, Bytes{0}, Bytes{0x80}})
    CHECK(!apply_patches(file, bad));
}

TEST(what_is_no_dct) {
  RecordScratch scratch;
  for (const Bytes& bytes : {Bytes{}, Bytes{0xFF, 0xD8, 0xFF}, Bytes(100, 0)}) {
    const JpegRecord record = encode_record(bytes, scratch);
    CHECK(!record.is_dct && record.dct.empty() && !record.reason.empty());
    Bytes file;
    CHECK(rebuild_file(file, bytes, scratch) != nullptr);
  }
  const Factors larger_chroma = {{1, 2, 1}, {1, 1, 1}};
  const JpegSpec odd = spec_of(20, 20, larger_chroma);
  CHECK(encode_record(make_jpeg(odd, 9), scratch).reason == "odd sampling");
}

}  // namespace
