// A table of 256 bytes in four registers. Internal to the files that include it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace penstock {
namespace {

struct Lookup512 {
  __m512i quarter[4];

  explicit Lookup512(const uint8_t* table) {
    for (int i = 0; i < 4; ++i) quarter[i] = _mm512_loadu_si512(table + 64 * i);
  }

  __m512i operator()(__m512i levels) const {
    const __m512i low = _mm512_permutex2var_epi8(quarter[0], levels, quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarter[2], levels, quarter[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(levels), low, high);
  }
};

/// A mask for the first `count` bytes of a vector; all of them if there are more.
__mmask64 first_bytes(int count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

}  // namespace
}  // namespace penstock
