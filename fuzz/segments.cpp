// Application segments and the TIFF directories in them, from arbitrary bytes.
//
// The first byte is the number of the segment; the rest is its body.
#include <cstdlib>

#include "codec/app_segments.h"

namespace {

using namespace penstock;

/// Every reader answers within the bytes, or not at all.
void check_directory(std::span<const uint8_t> bytes) {
  const TiffDirectory directory(bytes);
  for (const uint16_t tag : {0x0112, 0x011A, 0xB001, 0xB002, 0x0000, 0xFFFF}) {
    const auto entry = directory.find(tag);
    if (entry && !directory.valid()) std::abort();
    if (!entry) continue;
    for (const size_t offset : {size_t{entry->value_offset}, size_t{entry->value_offset} + 2}) {
      const bool has_two = directory.read_u16(offset).has_value();
      const bool has_four = directory.read_u32(offset).has_value();
      if (has_two != (offset + 2 <= bytes.size())) std::abort();
      if (has_four != (offset + 4 <= bytes.size())) std::abort();
    }
  }
  for (const size_t offset : {bytes.size(), bytes.size() + 1, ~size_t{0}, ~size_t{0} - 1})
    if (directory.read_u16(offset) || directory.read_u32(offset)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> body(data + 1, size - 1);
  check_directory(body);
  AppFacts facts;
  const int number = data[0] % 16;
  read_app_segment(facts, number, body);
  read_app_segment(facts, number, body);  // twice, as a file may have it
  if (facts.orientation < 1 || facts.orientation > 8) std::abort();
  return 0;
}
