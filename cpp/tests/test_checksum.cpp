// Checksums of every instruction set are zlib's.
#include <zlib.h>

#include <cstdint>
#include <random>
#include <vector>

#include "base/checksum.h"
#include "check.h"

namespace penstock {
namespace {

TEST_EACH_ISA(checksums_are_those_of_zlib) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(5000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t place = 0; place < 17; ++place)
    for (size_t size = 0; size + place <= bytes.size(); size += size < 200 ? 1 : 313) {
      const auto before = static_cast<uint32_t>(random());
      const uint32_t expected =
          static_cast<uint32_t>(crc32(before, bytes.data() + place, static_cast<uInt>(size)));
      CHECK(checksum(before, {bytes.data() + place, size}) == expected);
    }
}

}  // namespace
}  // namespace penstock
