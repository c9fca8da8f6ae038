// Progressive files: any order of scans that the format allows, any region.
#include <algorithm>
#include <numeric>
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
using Scans = std::vector<jpeg_scan_info>;

DecodeScratch scratch;  // shared, so that what one image leaves behind meets the next

jpeg_scan_info scan_of(std::vector<int> components, int first, int last, int high, int low) {
  jpeg_scan_info scan{};
  scan.comps_in_scan = static_cast<int>(components.size());
  std::copy(components.begin(), components.end(), scan.component_index);
  scan.Ss = first;
  scan.Se = last;
  scan.Ah = high;
  scan.Al = low;
  return scan;
}

/// First coefficients of all components together, or one component after the other.
void add_first_coefficients(Scans& scans, int components, bool together, int high, int low) {
  std::vector<int> all(components);
  std::iota(all.begin(), all.end(), 0);
  if (together) {
    scans.push_back(scan_of(all, 0, 0, high, low));
    return;
  }
  for (const int c : all) scans.push_back(scan_of({c}, 0, 0, high, low));
}

/// Bands of coefficients, each with its own number of bits at first; the rest bit by bit.
Scans random_scans(int components, std::mt19937& random) {
  Scans scans;
  const int dc_low = static_cast<int>(random() % 4);
  add_first_coefficients(scans, components, random() % 2 == 0, 0, dc_low);
  std::vector<Scans> later;  // each in its own order
  for (int c = 0; c < components; ++c)
    for (int first = 1; first < 64;) {
      const int last = random() % 3 == 0 ? 63 : std::min<int>(63, first + random() % 30);
      Scans band;
      int low = static_cast<int>(random() % 4);
      band.push_back(scan_of({c}, first, last, 0, low));
      for (; low > 0; --low) band.push_back(scan_of({c}, first, last, low, low - 1));
      later.push_back(band);
      first = last + 1;
    }
  for (int low = dc_low; low > 0; --low) {
    Scans refined;
    add_first_coefficients(refined, components, random() % 2 == 0, low, low - 1);
    scans.insert(scans.end(), refined.begin(), refined.end());
  }
  while (!later.empty()) {
    Scans& band = later[random() % later.size()];
    scans.push_back(band.front());
    band.erase(band.begin());
    std::erase_if(later, [](const Scans& rest) { return rest.empty(); });
  }
  return scans;
}

void check_regions(const Jpeg& jpeg, int regions, std::mt19937& random) {
  const JpegHeader header = read_jpeg_header(jpeg);
  CHECK(header.route == Route::libjpeg && header.is_own_progressive);
  CollectRows all;
  CHECK(decode_libjpeg_whole(all, jpeg, scratch).status == DecodeStatus::ok);
  const Pixels whole = all.pixels();
  for (int i = 0; i <= regions; ++i) {
    const Region region = i == 0 ? Region{0, 0, header.height, header.width}
                                 : random_region(random, header.height, header.width);
    CollectRows ours;
    CHECK(decode_progressive(ours, jpeg, header, region, scratch).status == DecodeStatus::ok);
    CHECK(ours.pixels() == whole.cut(region));
  }
}

TEST_EACH_ISA(usual_scans) {
  std::mt19937 random(3);
  const int sizes[][2] = {{1, 1}, {1, 9}, {8, 8}, {9, 7}, {33, 17}, {75, 93}, {130, 64}};
  for (const Factors& factors : kFactors)
    for (const auto& [height, width] : sizes)
      for (const int quality : {20, 75, 98, 100}) {
        JpegSpec spec = spec_of(height, width, factors);
        spec.progressive = true;
        spec.quality = quality;
        spec.noise = quality;
        spec.restart_interval = random() % 3 == 0 ? 1 + static_cast<int>(random() % 9) : 0;
        check_regions(make_jpeg(spec, random()), 4, random);
      }
}

TEST_EACH_ISA(gray) {
  std::mt19937 random(5);
  for (int size = 1; size < 70; size += 6) {
    JpegSpec spec = spec_of(size, 71 - size, kFactors[0]);
    spec.components = 1;
    spec.progressive = true;
    spec.horizontal[0] = spec.vertical[0] = 1 + size % 2;
    check_regions(make_jpeg(spec, random()), 5, random);
  }
}

TEST_EACH_ISA(any_order_of_scans) {
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    JpegSpec spec = spec_of(1 + static_cast<int>(random() % 70),
                            1 + static_cast<int>(random() % 90), kFactors[random() % 5]);
    if (random() % 5 == 0) {
      spec.components = 1;
      spec.horizontal[0] = spec.vertical[0] = 1;
    }
    spec.scans = random_scans(spec.components, random);
    spec.quality = 1 + static_cast<int>(random() % 100);
    spec.noise = static_cast<int>(random() % 100);
    spec.restart_interval = random() % 4 == 0 ? 1 + static_cast<int>(random() % 20) : 0;
    check_regions(make_jpeg(spec, random()), 3, random);
  }
}

TEST_EACH_ISA(long_runs_of_blocks_without_news) {
  std::mt19937 random(4);
  JpegSpec spec = spec_of(600, 700, kFactors[3]);
  spec.noise = 0;
  spec.progressive = true;
  std::vector<uint8_t> pixels(size_t{3} * 600 * 700, 120);
  for (int i = 0; i < 40; ++i) pixels[random() % pixels.size()] = static_cast<uint8_t>(random());
  check_regions(compress(spec, pixels), 6, random);
}

TEST_EACH_ISA(luma_alone) {
  std::mt19937 random(7);
  for (const Factors& factors : kFactors) {
    JpegSpec spec = spec_of(75, 93, factors);
    spec.progressive = true;
    const Jpeg jpeg = make_jpeg(spec, random());
    const JpegHeader header = read_jpeg_header(jpeg);
    for (int i = 0; i < 6; ++i) {
      const Region region = random_region(random, header.height, header.width);
      CollectRows by_libjpeg, by_us;
      CHECK(decode_libjpeg(by_libjpeg, jpeg, header, region, scratch, true).status ==
            DecodeStatus::ok);
      CHECK(decode_progressive(by_us, jpeg, header, region, scratch, true).status ==
            DecodeStatus::ok);
      CHECK(by_us.pixels() == by_libjpeg.pixels());
    }
  }
}

/// Offsets of all SOS markers.
std::vector<size_t> scans_in(const Jpeg& jpeg) {
  std::vector<size_t> found;
  for (size_t at = 0; at + 1 < jpeg.size(); ++at)
    if (jpeg[at] == 0xFF && jpeg[at + 1] == 0xDA) found.push_back(at);
  return found;
}

TEST_EACH_ISA(missing_scans_are_left_to_libjpeg) {
  JpegSpec spec = spec_of(40, 50, kFactors[0]);
  spec.progressive = true;
  const Jpeg jpeg = make_jpeg(spec, 3);
  const std::vector<size_t> scans = scans_in(jpeg);
  CHECK(scans.size() > 5);
  for (size_t kept = 1; kept < scans.size(); ++kept) {
    Jpeg cut(jpeg.begin(), jpeg.begin() + static_cast<ptrdiff_t>(scans[kept]));
    cut.push_back(0xFF);
    cut.push_back(0xD9);
    const JpegHeader header = read_jpeg_header(cut);
    if (!header.is_own_progressive) continue;
    CollectRows ours;
    const Region whole{0, 0, header.height, header.width};
    CHECK(decode_progressive(ours, cut, header, whole, scratch).status == DecodeStatus::irregular);
  }
}

}  // namespace
}  // namespace penstock::testing
