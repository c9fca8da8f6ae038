// Every decoder gives the bytes of a plain, whole decode by libjpeg, for any region.
#include <random>
#include <vector>

#include "base/cpu.h"
#include "check.h"
#include "codec/jpeg_decode.h"
#include "collect_rows.h"
#include "jpeg_cases.h"

namespace penstock::testing {
namespace {

using Jpeg = std::vector<uint8_t>;

DecodeScratch scratch;  // shared, so that what one image leaves behind meets the next

Pixels decode_whole(const Jpeg& jpeg) {
  CollectRows sink;
  CHECK(decode_libjpeg_whole(sink, jpeg, scratch).status == DecodeStatus::ok);
  return sink.pixels();
}

/// The whole image and some random regions, by every decoder that may be asked. Our own remembers
/// its rows, or does not.
void check_regions(const Jpeg& jpeg, Route expected, int regions, std::mt19937& random) {
  RowStarts rows;
  const JpegHeader header = read_jpeg_header(jpeg);
  CHECK(header.route == expected);
  const Pixels whole = decode_whole(jpeg);
  CHECK(whole.height == header.height && whole.width == header.width);
  for (int i = 0; i <= regions; ++i) {
    // The whole image comes in the middle: regions before it know a part of the rows, others all.
    const Region region = i == regions / 2 ? Region{0, 0, header.height, header.width}
                                           : random_region(random, header.height, header.width);
    const Pixels wanted = whole.cut(region);
    CollectRows by_libjpeg;
    CHECK(decode_libjpeg(by_libjpeg, jpeg, header, region, scratch).status == DecodeStatus::ok);
    CHECK(by_libjpeg.pixels() == wanted);
    if (header.route != Route::baseline) continue;
    CollectRows by_us;
    CHECK(decode_baseline(by_us, jpeg, header, region, scratch).status == DecodeStatus::ok);
    CHECK(by_us.pixels() == wanted);
    CollectRows from_rows;
    CHECK(decode_baseline(from_rows, jpeg, header, region, scratch, {}, false, &rows).status ==
          DecodeStatus::ok);
    CHECK(from_rows.pixels() == wanted);
    CHECK(rows.empty() == (header.restart_interval > 0));
  }
}

TEST_EACH_ISA(samplings) {
  std::mt19937 random(7);
  const int sizes[][2] = {{1, 1},  {1, 2},   {2, 3},   {3, 17},  {5, 5},   {7, 33},  {8, 8},
                          {9, 31}, {16, 16}, {17, 15}, {33, 64}, {65, 47}, {97, 113}};
  for (const Factors& factors : kFactors)
    for (const auto& [height, width] : sizes) {
      JpegSpec spec = spec_of(height, width, factors);
      spec.optimise = random() % 2 == 0;
      spec.restart_interval = random() % 3 == 0 ? static_cast<int>(random() % 9) : 0;
      check_regions(make_jpeg(spec, random()), Route::baseline, 12, random);
    }
}

TEST_EACH_ISA(gray) {
  std::mt19937 random(7);
  for (int size = 1; size < 70; size += 4)
    for (const int factor : {1, 2}) {
      JpegSpec spec = spec_of(size, 71 - size, kFactors[0]);
      spec.components = 1;
      spec.horizontal[0] = spec.vertical[0] = factor;
      check_regions(make_jpeg(spec, random()), Route::baseline, 10, random);
    }
}

TEST_EACH_ISA(luma_alone) {
  std::mt19937 random(7);
  for (const Factors& factors : kFactors)
    for (const int quality : {5, 60, 100}) {
      JpegSpec spec = spec_of(75, 93, factors);
      spec.quality = spec.noise = quality;
      spec.restart_interval = random() % 2 == 0 ? 5 : 0;
      const Jpeg jpeg = make_jpeg(spec, random());
      const JpegHeader header = read_jpeg_header(jpeg);
      for (int i = 0; i < 6; ++i) {
        const Region region = random_region(random, header.height, header.width);
        CollectRows by_libjpeg, by_us;
        CHECK(decode_libjpeg(by_libjpeg, jpeg, header, region, scratch, true).status ==
              DecodeStatus::ok);
        CHECK(decode_baseline(by_us, jpeg, header, region, scratch, {}, true).status ==
              DecodeStatus::ok);
        CHECK(by_us.pixels() == by_libjpeg.pixels());
      }
      check_regions(jpeg, Route::baseline, 1, random);  // nothing is left behind for colours
    }
}

TEST_EACH_ISA(qualities) {
  std::mt19937 random(7);
  for (int quality = 1; quality <= 100; ++quality) {
    JpegSpec spec = spec_of(61, 75, kFactors[quality % 4]);
    spec.quality = quality;
    spec.noise = quality;
    spec.optimise = quality % 3 == 0;
    check_regions(make_jpeg(spec, random()), Route::baseline, 3, random);
  }
}

TEST_EACH_ISA(restarts) {
  std::mt19937 random(7);
  for (int interval = 1; interval < 30; ++interval) {
    JpegSpec spec = spec_of(70, 90, kFactors[interval % 4]);
    spec.restart_interval = interval;
    check_regions(make_jpeg(spec, random()), Route::baseline, 4, random);
  }
}

TEST_EACH_ISA(libjpeg_routes) {
  std::mt19937 random(7);
  for (const Factors& factors : kFactors) {
    JpegSpec spec = spec_of(75, 93, factors);
    spec.progressive = true;
    check_regions(make_jpeg(spec, random()), Route::libjpeg, 8, random);
    spec.arithmetic = true;
    check_regions(make_jpeg(spec, random()), Route::libjpeg, 2, random);
    spec.progressive = false;
    check_regions(make_jpeg(spec, random()), Route::libjpeg, 2, random);
  }
  JpegSpec spec = spec_of(50, 60, kFactors[0]);
  spec.stored_as_rgb = true;
  check_regions(make_jpeg(spec, random()), Route::libjpeg, 8, random);
}

}  // namespace
}  // namespace penstock::testing
