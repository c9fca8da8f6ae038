// Damaged files: no crash, and whatever is called ok has the pixels of libjpeg's whole decode.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <span>
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

/// A copy of a file that ends where memory ends: a byte behind it cannot be read.
class AtTheEnd {
 public:
  explicit AtTheEnd(const Jpeg& jpeg) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t room = (jpeg.size() + page - 1) / page * page;
    mapped_ = room + page;
    begin_ = static_cast<uint8_t*>(
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(begin_ != MAP_FAILED);
    CHECK(::mprotect(begin_ + room, page, PROT_NONE) == 0);
    bytes = {begin_ + room - jpeg.size(), jpeg.size()};
    std::copy(jpeg.begin(), jpeg.end(), begin_ + room - jpeg.size());
  }
  ~AtTheEnd() { ::munmap(begin_, mapped_); }
  AtTheEnd(const AtTheEnd&) = delete;
  AtTheEnd& operator=(const AtTheEnd&) = delete;

  std::span<const uint8_t> bytes;

 private:
  uint8_t* begin_ = nullptr;
  size_t mapped_ = 0;
};

/// Decodes by the route the header gives and compares. Returns whether it was called ok.
bool check_damaged(const Jpeg& damaged, const Region& wanted_region) {
  const AtTheEnd there(damaged);
  const std::span<const uint8_t> jpeg = there.bytes;
  const JpegHeader header = read_jpeg_header(jpeg);
  CHECK(header.route == Route::baseline || *header.reason != '\0');
  CHECK(header.orientation >= 1 && header.orientation <= 8);
  if (header.route == Route::pillow) return false;
  Region region = wanted_region;
  if (region.top + region.height > header.height || region.left + region.width > header.width)
    region = {0, 0, header.height, header.width};
  if (int64_t{header.height} * header.width > 1'000'000) return false;

  CollectRows sink;
  const DecodeResult result =
      header.route == Route::baseline ? decode_baseline(sink, jpeg, header, region, scratch)
      : header.is_own_progressive     ? decode_progressive(sink, jpeg, header, region, scratch)
                                      : decode_libjpeg(sink, jpeg, header, region, scratch);
  CHECK((result.status == DecodeStatus::ok) == result.message.empty());
  if (result.status != DecodeStatus::ok) return false;
  CollectRows whole;
  const DecodeResult reference = decode_libjpeg_whole(whole, jpeg, scratch);
  CHECK(reference.status != DecodeStatus::failed);
  CHECK(sink.pixels() == whole.pixels().cut(region));
  return true;
}

std::vector<Jpeg> small_jpegs() {
  std::vector<JpegSpec> specs(8);
  for (JpegSpec& spec : specs) {
    spec.height = 37;
    spec.width = 41;
  }
  specs[1].horizontal[0] = specs[1].vertical[0] = 2;
  specs[2].components = 1;
  specs[2].restart_interval = 3;
  specs[3].horizontal[0] = 2;
  specs[3].restart_interval = 2;
  specs[3].optimise = true;
  specs[4].progressive = true;
  specs[5].progressive = true;
  specs[5].horizontal[0] = specs[5].vertical[0] = 2;
  specs[5].restart_interval = 4;
  specs[6].progressive = true;
  specs[6].components = 1;
  specs[7].progressive = specs[7].arithmetic = true;
  std::vector<Jpeg> jpegs;
  for (const JpegSpec& spec : specs) jpegs.push_back(make_jpeg(spec, 5));
  return jpegs;
}

TEST_EACH_ISA(whole_files) {
  for (const Jpeg& jpeg : small_jpegs()) CHECK(check_damaged(jpeg, {0, 0, 37, 41}));
}

TEST_EACH_ISA(truncations) {
  for (const Jpeg& jpeg : small_jpegs()) {
    const Region top{0, 0, 8, 41};
    for (size_t size = 0; size < jpeg.size(); ++size) {
      const Jpeg shorter(jpeg.begin(), jpeg.begin() + static_cast<ptrdiff_t>(size));
      CHECK(!check_damaged(shorter, top));
    }
    CHECK(check_damaged(jpeg, top));
  }
}

TEST_EACH_ISA(lost_entropy_bytes) {
  for (const Jpeg& jpeg : small_jpegs()) {
    const JpegHeader header = read_jpeg_header(jpeg);
    const Region all{0, 0, header.height, header.width};
    for (size_t at = header.entropy_offset; at < header.entropy_end; ++at) {
      Jpeg shorter = jpeg;
      shorter.erase(shorter.begin() + static_cast<ptrdiff_t>(at),
                    shorter.begin() + static_cast<ptrdiff_t>(header.entropy_end));
      check_damaged(shorter, all);
    }
  }
}

TEST_EACH_ISA(corruptions) {
  std::mt19937 random(11);
  for (const Jpeg& jpeg : small_jpegs())
    for (int round = 0; round < 3000; ++round) {
      const Jpeg damaged = with_changes(
          jpeg, 4, 640, random, [&](uint8_t& byte) { byte = static_cast<uint8_t>(random()); });
      const int top = static_cast<int>(random() % 30);
      const int left = static_cast<int>(random() % 30);
      check_damaged(damaged, {top, left, 7, 11});
    }
}

}  // namespace
}  // namespace penstock::testing
