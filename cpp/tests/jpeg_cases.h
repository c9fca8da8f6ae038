// What the tests of the decoders try: samplings, sizes, regions, instruction sets.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "base/cpu.h"
#include "base/image.h"
#include "make_jpeg.h"

namespace penstock::testing {

struct Factors {
  int horizontal[3];
  int vertical[3];
};

// 4:4:4, 4:2:2, 4:4:0, 4:2:0, 4:1:1, 4:1:0, and what nobody should write.
inline const Factors kFactors[] = {
    {{1, 1, 1}, {1, 1, 1}}, {{2, 1, 1}, {1, 1, 1}}, {{1, 1, 1}, {2, 1, 1}}, {{2, 1, 1}, {2, 1, 1}},
    {{4, 1, 1}, {1, 1, 1}}, {{4, 1, 1}, {2, 1, 1}}, {{1, 1, 1}, {4, 1, 1}}, {{2, 2, 1}, {1, 1, 1}},
    {{2, 1, 2}, {2, 2, 1}}, {{2, 2, 1}, {2, 1, 2}}, {{4, 2, 1}, {1, 1, 1}}, {{1, 1, 1}, {2, 2, 2}},
    {{3, 1, 1}, {1, 1, 1}}, {{1, 1, 1}, {3, 1, 1}}, {{1, 1, 1}, {4, 2, 1}},
};

inline Region random_region(std::mt19937& random, int height, int width) {
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Region region;
  region.top = draw(0, height - 1);
  region.left = draw(0, width - 1);
  region.height = draw(1, height - region.top);
  region.width = draw(1, width - region.left);
  return region;
}

/// `bytes` with 1 to `most` of them changed: by half among the first `start`, where headers are.
template <class Change>
std::vector<uint8_t> with_changes(std::vector<uint8_t> bytes, unsigned most, size_t start,
                                  std::mt19937& random, Change change) {
  for (unsigned left = 1 + random() % most; left > 0; --left) {
    const bool near_start = random() % 2 == 0;
    const size_t range = near_start ? std::min(bytes.size(), start) : bytes.size();
    change(bytes[random() % range]);
  }
  return bytes;
}

inline JpegSpec spec_of(int height, int width, const Factors& factors) {
  JpegSpec spec;
  spec.height = height;
  spec.width = width;
  std::copy_n(factors.horizontal, 3, spec.horizontal);
  std::copy_n(factors.vertical, 3, spec.vertical);
  return spec;
}

}  // namespace penstock::testing
