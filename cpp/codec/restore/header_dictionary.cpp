#include <string_view>

#include "codec/markers.h"
#include "codec/restore/deflate.h"
#include "codec/restore/standard_tables.h"

namespace penstock {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSegmentNames =
    "http://ns.adobe.com/xap/1.0/\0ICC_PROFILE\0\1\1Exif\0\0MM\0*\0\0\0\10Exif\0\0II*\0\10\0\0\0"
    "\xFF\xED\0,Photoshop 3.0\0"
    "8BIM\4\4\0\0\0\0\0\xFF\xEE\0\16Adobe\0d\200\0\0\0\1"sv;

constexpr std::string_view kFileStart =
    "\xFF\xD8\xFF\xE0\0\20JFIF\0\1\2\0\0d\0d\0\0"
    "\xFF\xD8\xFF\xE0\0\20JFIF\0\1\1\1\0H\0H\0\0"
    "\xFF\xD8\xFF\xE0\0\20JFIF\0\1\1\0\0\1\0\1\0\0"sv;

constexpr std::string_view kColourFrame = "\xFF\xC0\0\21\10\1w\1\xF4\3\1\"\0\2\21\1\3\21\1"sv;
constexpr std::string_view kColourScan = "\xFF\xDA\0\14\3\1\0\2\21\3\21\0?\0\xFF\xD9"sv;
constexpr std::string_view kGrayParts =
    "\xFF\xC0\0\13\10\1\1\21\0\xFF\xDA\0\10\1\1\0\0?\0\xFF\xD9"sv;

/// What is most common comes last: deflate has the shortest codes for it.
std::vector<uint8_t> make_dictionary() {
  std::vector<uint8_t> text;
  const auto append = [&text](std::string_view part) {
    for (const char byte : part) text.push_back(static_cast<uint8_t>(byte));
  };
  append(kGrayParts);
  append(kSegmentNames);
  append(kFileStart);
  for (int quality = 1; quality <= 100; ++quality) append_standard_quant_segments(text, quality);
  append(kColourFrame);
  for (const uint8_t byte : standard_huffman_segments()) text.push_back(byte);
  append(kColourScan);
  return text;
}

}  // namespace

const std::vector<uint8_t>& header_dictionary() {
  static const std::vector<uint8_t> dictionary = make_dictionary();
  return dictionary;
}

}  // namespace penstock
