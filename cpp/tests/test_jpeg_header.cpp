// Routes: only what is regular takes the fast path, and what Pillow may refuse goes to Pillow.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "check.h"
#include "codec/entropy_bytes.h"
#include "codec/jpeg_header.h"
#include "make_jpeg.h"

namespace penstock::testing {
namespace {

using Jpeg = std::vector<uint8_t>;
using namespace std::string_view_literals;

Jpeg plain_jpeg() {
  JpegSpec spec;
  spec.height = 20;
  spec.width = 30;
  return make_jpeg(spec, 1);
}

/// `jpeg` with another segment directly after its start.
Jpeg with_segment(const Jpeg& jpeg, uint8_t marker, std::string_view body) {
  Jpeg longer = jpeg;
  const size_t length = body.size() + 2;
  Jpeg segment = {0xFF, marker, static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)};
  segment.insert(segment.end(), body.begin(), body.end());
  longer.insert(longer.begin() + 2, segment.begin(), segment.end());
  return longer;
}

/// The offset of a marker's 0xFF.
size_t find_segment(const Jpeg& jpeg, uint8_t marker) {
  for (size_t i = 2; i + 1 < jpeg.size(); ++i)
    if (jpeg[i] == 0xFF && jpeg[i + 1] == marker) return i;
  CHECK(false);
  return 0;
}

Jpeg without_segment(const Jpeg& jpeg, uint8_t marker) {
  const auto at = jpeg.begin() + static_cast<ptrdiff_t>(find_segment(jpeg, marker));
  Jpeg shorter = jpeg;
  const int length = at[2] << 8 | at[3];
  const auto from = shorter.begin() + (at - jpeg.begin());
  shorter.erase(from, from + 2 + length);
  return shorter;
}

Route route_of(const Jpeg& jpeg) { return read_jpeg_header(jpeg).route; }

TEST_EACH_ISA(plain) {
  const Jpeg jpeg = plain_jpeg();
  const JpegHeader header = read_jpeg_header(jpeg);
  CHECK(header.route == Route::baseline);
  CHECK(*header.reason == '\0');
  CHECK(header.height == 20 && header.width == 30 && header.components == 3);
  CHECK(header.entropy_end + 2 == jpeg.size());
  CHECK(header.quant_present[0] && header.quant_present[1] && !header.quant_present[2]);
  Jpeg trailing = jpeg;
  trailing.insert(trailing.end(), {1, 2, 0xFF, 0xD8, 0xFF});
  CHECK(route_of(trailing) == Route::baseline);
}

TEST_EACH_ISA(no_jpeg) {
  CHECK(route_of({}) == Route::pillow);
  CHECK(route_of({0xFF}) == Route::pillow);
  CHECK(route_of({0xFF, 0xD8, 0xFF}) == Route::pillow);
  CHECK(route_of({0x89, 'P', 'N', 'G', 13, 10, 26, 10}) == Route::pillow);
  Jpeg late_start = plain_jpeg();
  late_start.insert(late_start.begin(), 0);
  CHECK(route_of(late_start) == Route::pillow);
}

TEST_EACH_ISA(colour_spaces) {
  const Jpeg no_jfif = without_segment(plain_jpeg(), 0xE0);
  CHECK(route_of(no_jfif) == Route::baseline);
  const auto adobe = [](char transform) {
    return std::string("Adobe\0\x64\0\0\0\0", 11) + transform;
  };
  CHECK(route_of(with_segment(no_jfif, 0xEE, adobe(1))) == Route::baseline);
  CHECK(route_of(with_segment(no_jfif, 0xEE, adobe(0))) == Route::libjpeg);
  CHECK(route_of(with_segment(no_jfif, 0xEE, adobe(2))) == Route::pillow);
  CHECK(route_of(with_segment(plain_jpeg(), 0xEE, adobe(2))) == Route::baseline);
  Jpeg named = no_jfif;
  const size_t frame = find_segment(named, 0xC0);
  const size_t scan = find_segment(named, 0xDA);
  for (int c = 0; c < 3; ++c) named[frame + 10 + 3 * c] = named[scan + 5 + 2 * c] = "RGB"[c];
  CHECK(route_of(named) == Route::libjpeg);
}

TEST_EACH_ISA(odd_headers) {
  const Jpeg jpeg = plain_jpeg();
  const size_t frame = find_segment(jpeg, 0xC0);
  const auto changed = [&jpeg](size_t at, uint8_t value) {
    Jpeg other = jpeg;
    other[at] = value;
    return route_of(other);
  };
  CHECK(changed(frame + 1, 0xC1) == Route::baseline);
  CHECK(changed(frame + 1, 0xC3) == Route::pillow);
  CHECK(changed(frame + 1, 0xC9) == Route::libjpeg);
  CHECK(changed(frame + 4, 12) == Route::pillow);
  CHECK(changed(frame + 6, 0) == Route::pillow);       // height 0
  CHECK(changed(frame + 9, 4) == Route::pillow);       // four components
  CHECK(changed(frame + 12, 3) == Route::pillow);      // an absent quantisation table
  CHECK(changed(frame + 14, 0x21) == Route::libjpeg);  // chroma finer than luma
  CHECK(changed(find_segment(jpeg, 0xDA) + 12, 62) == Route::libjpeg);  // not all coefficients
  CHECK(route_of(without_segment(jpeg, 0xDB)) == Route::pillow);
  CHECK(route_of(without_segment(jpeg, 0xC4)) == Route::libjpeg);
  CHECK(route_of(with_segment(jpeg, 0xDC, "\0\x14"sv)) == Route::pillow);
  CHECK(route_of(with_segment(jpeg, 0xFE, "a comment"sv)) == Route::baseline);
  CHECK(route_of(with_segment(jpeg, 0xCC, "\0\x10"sv)) == Route::baseline);
  CHECK(route_of(with_segment(jpeg, 0xCC, "\x49\x10"sv)) == Route::pillow);
}

TEST_EACH_ISA(odd_entropy_data) {
  const Jpeg jpeg = plain_jpeg();
  const size_t offset = read_jpeg_header(jpeg).entropy_offset;
  const auto inserted = [&](std::initializer_list<uint8_t> bytes) {
    Jpeg other = jpeg;
    other.insert(other.begin() + static_cast<ptrdiff_t>(offset) + 5, bytes);
    return route_of(other);
  };
  CHECK(inserted({0xFF, 0x00}) == Route::baseline);
  CHECK(inserted({0xFF, 0xD0}) == Route::libjpeg);  // no restart interval was announced
  CHECK(inserted({0xFF, 0xFF, 0x00}) == Route::pillow);
  CHECK(inserted({0xFF, 0xDA, 0, 2}) == Route::pillow);
  Jpeg endless(jpeg.begin(), jpeg.end() - 2);
  CHECK(route_of(endless) == Route::pillow);
}

TEST_EACH_ISA(pillow_segments) {
  const Jpeg jpeg = plain_jpeg();
  CHECK(route_of(with_segment(jpeg, 0xE0, "JFIF\0\1"sv)) == Route::pillow);
  CHECK(route_of(with_segment(jpeg, 0xE2, "ICC_PROFILE\0\1"sv)) == Route::pillow);
  CHECK(route_of(with_segment(jpeg, 0xE2, "ICC_PROFILE\0\1\1x"sv)) == Route::baseline);
  CHECK(route_of(with_segment(jpeg, 0xE2, "MPF\0II*\0"sv)) == Route::pillow);
  CHECK(route_of(with_segment(jpeg, 0xED, "Photoshop 3.0\0008BIM\3\355"sv)) == Route::pillow);
  CHECK(route_of(with_segment(jpeg, 0xED, "Photoshop 3.0\0008BIM\3"sv)) == Route::baseline);
  CHECK(route_of(with_segment(jpeg, 0xEE, "Adobe"sv)) == Route::pillow);
}

TEST_EACH_ISA(orientation) {
  constexpr auto little = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"sv;
  constexpr auto big = "Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\x08\0\0\0\0\0\0"sv;
  constexpr auto wild = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\x63\0\0\0\0\0\0\0"sv;
  constexpr auto far_away = "Exif\0\0II*\0\xFF\xFF\xFF\xFF\1\0\x12\1\3\0"sv;
  const auto header_with = [](std::string_view exif) {
    return read_jpeg_header(with_segment(plain_jpeg(), 0xE1, exif));
  };
  CHECK(header_with(little).orientation == 6);
  CHECK(header_with(little).route == Route::baseline);
  CHECK(header_with(big).orientation == 8);
  CHECK(header_with(wild).orientation == 1);
  CHECK(header_with(far_away).orientation == 1);
  CHECK(header_with(far_away).route == Route::pillow);
  CHECK(header_with("Exif\0\0none"sv).route == Route::baseline);
}

TEST_EACH_ISA(entropy_bytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> stuffed;
    std::vector<uint8_t> plain;
    const size_t size = random() % 300;
    while (plain.size() < size) {
      plain.push_back(random() % 8 == 0 ? 0xFF : static_cast<uint8_t>(random() % 3));
      stuffed.push_back(plain.back());
      if (plain.back() == 0xFF) stuffed.push_back(0);
    }
    std::vector<uint8_t> target(stuffed.size() + kUnstuffSlack);
    const uint8_t* const begin = stuffed.data();
    const uint8_t* const end = begin + stuffed.size();
    const EntropyBytes& entropy = PENSTOCK_PICK(entropy_bytes);
    CHECK(entropy.find_marker(begin, end) == end);
    const uint8_t* const copied = entropy.unstuff(target.data(), begin, end);
    target.resize(copied - target.data());
    CHECK(target == plain);
    if (stuffed.empty()) continue;
    const size_t at = random() % stuffed.size();
    stuffed[at] = 0xFF;
    const uint8_t* found = entropy.find_marker(begin, end);
    const uint8_t* expected = scalar::entropy_bytes.find_marker(begin, end);
    CHECK(found == expected);
  }
}

}  // namespace
}  // namespace penstock::testing
