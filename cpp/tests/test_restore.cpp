// Every kind of JPEG is rebuilt byte for byte from its coefficients and its restore section.
#include <string>
#include <vector>

#include "check.h"
#include "codec/jpeg_route.h"
#include "codec/markers.h"
#include "codec/read_coefficients.h"
#include "codec/restore/restore.h"
#include "jpeg_cases.h"
#include "make_jpeg.h"

namespace {

using namespace penstock;
using namespace penstock::testing;

using Bytes = std::vector<uint8_t>;

struct Restored {
  Likeness likeness = Likeness::bytes;
  Bytes section;
  Bytes file;
};

Restored restore_of(const Bytes& jpeg) {
  const JpegHeader header = read_jpeg_header(jpeg);
  CHECK(header.route != Route::pillow);
  DecodeScratch decode;
  RestoreScratch scratch;
  CoefficientImage image;
  CHECK(read_coefficients(image, jpeg, header, decode).status == DecodeStatus::ok);
  Restored restored;
  CHECK(make_restore(restored.section, restored.likeness, jpeg, header, image, scratch, decode) ==
        nullptr);
  CHECK(rebuild(restored.file, image, restored.section) == nullptr);
  return restored;
}

void check_identical(const Bytes& jpeg) {
  const Restored restored = restore_of(jpeg);
  CHECK(restored.likeness == Likeness::bytes);
  CHECK(restored.file == jpeg);
}

/// All ways to write the same image.
void check_codings(JpegSpec spec, unsigned seed) {
  for (const bool progressive : {false, true})
    for (const bool optimise : {false, true})
      for (const int restart_interval : {0, 1, 5}) {
        spec.progressive = progressive;
        spec.optimise = optimise;
        spec.restart_interval = restart_interval;
        check_identical(make_jpeg(spec, seed));
      }
}

TEST(samplings) {
  unsigned seed = 0;
  for (const Factors& factors : kFactors)
    for (const auto& [height, width] : {std::pair{1, 1}, {17, 33}, {70, 101}}) {
      const JpegSpec spec = spec_of(height, width, factors);
      if (!is_sampling_usable(read_jpeg_header(make_jpeg(spec, seed)))) continue;
      check_codings(spec, seed++);
    }
  CHECK(seed > 3 * 8);
}

TEST(gray_and_rgb) {
  JpegSpec spec = spec_of(45, 77, kFactors[0]);
  spec.stored_as_rgb = true;
  check_codings(spec, 1);
  spec.stored_as_rgb = false;
  spec.components = 1;
  check_codings(spec, 2);
}

TEST(qualities) {
  JpegSpec spec = spec_of(64, 96, kFactors[3]);
  for (const int quality : {1, 30, 75, 100})
    for (const int noise : {0, 128}) {
      spec.quality = quality;
      spec.noise = noise;
      check_codings(spec, quality);
    }
}

TEST(instruction_sets) {
  const Isa before = active_isa();
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    check_codings(spec_of(40, 60, kFactors[3]), 3);
  }
  force_isa(before);
}

TEST(bytes_outside_the_scan) {
  Bytes jpeg = make_jpeg(spec_of(20, 30, kFactors[0]), 4);
  const Bytes comment = {0xFF, kCom, 0, 6, 'p', 'e', 'n', 0};
  jpeg.insert(jpeg.begin() + 2, comment.begin(), comment.end());
  check_identical(jpeg);
  const std::string behind = "bytes behind the image, among them \xFF\xD9 and \xFF\xDA";
  jpeg.insert(jpeg.end(), behind.begin(), behind.end());
  check_identical(jpeg);
}

TEST(standard_headers_become_small) {
  constexpr size_t kMostSectionBytes = 64;
  for (const int quality : {50, 75, 90, 95}) {
    JpegSpec spec = spec_of(375, 500, kFactors[3]);
    spec.quality = quality;
    CHECK(restore_of(make_jpeg(spec, 5)).section.size() <= kMostSectionBytes);
  }
}

/// The file with the lowest bits of its last entropy-coded byte set to `padding`; empty if they
/// are no padding that can be changed.
Bytes with_padding(Bytes jpeg, int bits, int padding) {
  uint8_t& last = jpeg[jpeg.size() - 3];
  const int mask = (1 << bits) - 1;
  if ((last & mask) != mask) return {};
  last = static_cast<uint8_t>((last & ~mask) | padding);
  return jpeg;
}

TEST(padding_bits) {
  int tried = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Bytes jpeg = make_jpeg(spec_of(16, 16, kFactors[0]), seed);
    // Standard codes never end in three ones: three or more of them are padding.
    for (const int padding : {0b000, 0b010}) {
      const Bytes changed = with_padding(jpeg, 3, padding);
      if (changed.empty()) continue;
      check_identical(changed);
      ++tried;
    }
  }
  CHECK(tried > 4);
}

TEST(arithmetic_coding_keeps_the_pixels) {
  JpegSpec spec = spec_of(50, 50, kFactors[3]);
  spec.arithmetic = true;
  for (const bool progressive : {false, true}) {
    spec.progressive = progressive;
    const Bytes jpeg = make_jpeg(spec, 6);
    const Restored restored = restore_of(jpeg);
    CHECK(restored.likeness == Likeness::pixels);
    CHECK(restored.file != jpeg);
    check_identical(restored.file);
  }
}

}  // namespace
