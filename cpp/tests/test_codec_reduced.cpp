// Decoding at a fraction of the size: a region is a cut of the whole, all variants agree, and the
// whole is what averaging the pixels at full size gives, nearly.
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "check.h"
#include "codec/jpeg_decode.h"
#include "collect_rows.h"
#include "jpeg_cases.h"

namespace penstock::testing {
namespace {

using Jpeg = std::vector<uint8_t>;

DecodeScratch scratch;  // shared, so that what one image leaves behind meets the next

constexpr int kScales[] = {2, 4, 8};

Pixels decode(const Jpeg& jpeg, const Region& region, int scale) {
  CollectRows sink;
  const JpegHeader header = read_jpeg_header(jpeg);
  CHECK(decode_baseline(sink, jpeg, header, region, scratch, {scale}).status == DecodeStatus::ok);
  const Pixels pixels = sink.pixels();
  CHECK(pixels.height == region.height && pixels.width == region.width);
  return pixels;
}

Region whole_of(const JpegHeader& header, int scale) {
  return {0, 0, reduced_size(header.height, scale), reduced_size(header.width, scale)};
}

void check_regions(const Jpeg& jpeg, int regions, std::mt19937& random) {
  const JpegHeader header = read_jpeg_header(jpeg);
  for (const int scale : kScales) {
    const Region all = whole_of(header, scale);
    const Pixels whole = decode(jpeg, all, scale);
    for (int i = 0; i < regions; ++i) {
      const Region region = random_region(random, all.height, all.width);
      CHECK(decode(jpeg, region, scale) == whole.cut(region));
    }
  }
}

TEST_EACH_ISA(samplings) {
  std::mt19937 random(11);
  const int sizes[][2] = {{1, 1}, {3, 17}, {8, 8}, {9, 31}, {33, 64}, {97, 113}, {160, 41}};
  for (const Factors& factors : kFactors)
    for (const auto& [height, width] : sizes) {
      JpegSpec spec = spec_of(height, width, factors);
      spec.restart_interval = random() % 3 == 0 ? static_cast<int>(random() % 9) : 0;
      check_regions(make_jpeg(spec, random()), 8, random);
    }
  JpegSpec gray = spec_of(70, 93, kFactors[0]);
  gray.components = 1;
  check_regions(make_jpeg(gray, 1), 8, random);
}

/// Mean difference between `reduced` and averages of scale x scale pixels, away from the far edges.
double difference_from_averages(const Pixels& reduced, const Pixels& full, int scale) {
  double sum = 0;
  int count = 0;
  for (int c = 0; c < full.channels; ++c)
    for (int y = 0; y < full.height / scale; ++y)
      for (int x = 0; x < full.width / scale; ++x, ++count) {
        double average = 0;
        for (int i = 0; i < scale * scale; ++i)
          average += full.row(c, y * scale + i / scale)[x * scale + i % scale];
        sum += std::abs(reduced.row(c, y)[x] - average / (scale * scale));
      }
  return sum / count;
}

/// Without noise, make_pixels draws ramps, which at this size do not wrap around.
TEST_EACH_ISA(averages) {
  for (int sampling = 0; sampling < 4; ++sampling) {
    JpegSpec spec = spec_of(24, 40, kFactors[sampling]);
    spec.noise = 0;
    spec.quality = 95;
    const Jpeg jpeg = make_jpeg(spec, 0);
    const JpegHeader header = read_jpeg_header(jpeg);
    const Pixels full = decode(jpeg, whole_of(header, 1), 1);
    for (const int scale : kScales) {
      const Pixels reduced = decode(jpeg, whole_of(header, scale), scale);
      CHECK(difference_from_averages(reduced, full, scale) < 1);
    }
  }
}

TEST(variants_agree) {
  std::mt19937 random(12);
  for (const Factors& factors : kFactors) {
    JpegSpec spec = spec_of(75, 139, factors);
    spec.noise = 200;
    const Jpeg jpeg = make_jpeg(spec, random());
    for (const int scale : kScales) {
      const Region all = whole_of(read_jpeg_header(jpeg), scale);
      force_isa(Isa::scalar);
      const Pixels expected = decode(jpeg, all, scale);
      for (const Isa isa : supported_isas()) {
        force_isa(isa);
        CHECK(decode(jpeg, all, scale) == expected);
      }
    }
  }
}

}  // namespace
}  // namespace penstock::testing
