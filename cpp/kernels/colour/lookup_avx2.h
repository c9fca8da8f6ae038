// A table of 256 bytes by byte shuffles of 16. Internal to the files that include it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace penstock {
namespace {

/// Rows of 16 entries, each (but the first of either half) xored with the row before. A shuffle
/// gives 0 where the index is negative; so counting a level down by 16 from row to row, and
/// xoring all that comes until it is negative, leaves the entry of the level's own row.
struct Lookup256 {
  __m256i row[16];

  explicit Lookup256(const uint8_t* table) {
    __m256i before = _mm256_setzero_si256();
    for (int i = 0; i < 16; ++i) {
      const __m256i entries = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * i)));
      row[i] = i == 8 ? entries : _mm256_xor_si256(entries, before);
      before = entries;
    }
  }

  __m256i operator()(__m256i levels) const {
    const __m256i sixteen = _mm256_set1_epi8(16);
    __m256i low = levels;                                             // negative from 128 on
    __m256i high = _mm256_xor_si256(levels, _mm256_set1_epi8(-128));  // negative below 128
    __m256i found =
        _mm256_xor_si256(_mm256_shuffle_epi8(row[0], low), _mm256_shuffle_epi8(row[8], high));
    for (int i = 1; i < 8; ++i) {
      low = _mm256_subs_epi8(low, sixteen);
      high = _mm256_subs_epi8(high, sixteen);
      found = _mm256_xor_si256(found, _mm256_shuffle_epi8(row[i], low));
      found = _mm256_xor_si256(found, _mm256_shuffle_epi8(row[8 + i], high));
    }
    return found;
  }
};

/// All bits set in the first `count` bytes of a vector.
__m256i first_bytes(int count) {
  const __m256i position =
      _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  return _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(count < 32 ? count : 32)), position);
}

}  // namespace
}  // namespace penstock
