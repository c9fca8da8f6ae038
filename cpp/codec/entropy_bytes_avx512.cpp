#include <immintrin.h>

#include "codec/entropy_bytes.h"

namespace penstock::avx512 {
namespace {

constexpr ptrdiff_t kLane = 64;

const uint8_t* find_marker(const uint8_t* from, const uint8_t* end) {
  const __m512i ff = _mm512_set1_epi8(-1);
  for (; end - from > kLane; from += kLane) {
    const __m512i next = _mm512_loadu_si512(from + 1);
    const uint64_t not_stuffed = _mm512_test_epi8_mask(next, next);
    const uint64_t markers = _mm512_mask_cmpeq_epi8_mask(not_stuffed, _mm512_loadu_si512(from), ff);
    if (markers != 0) return from + _tzcnt_u64(markers);
  }
  return scalar::entropy_bytes.find_marker(from, end);
}

uint8_t* unstuff(uint8_t* target, const uint8_t* from, const uint8_t* end) {
  const __m512i ff = _mm512_set1_epi8(-1);
  uint64_t after_ff = 0;  // bit 0: the previous 64 bytes ended in 0xFF
  for (; end - from >= kLane; from += kLane) {
    const __m512i bytes = _mm512_loadu_si512(from);
    const uint64_t is_ff = _mm512_cmpeq_epi8_mask(bytes, ff);
    const uint64_t keep = ~(is_ff << 1 | after_ff);
    after_ff = is_ff >> 63;
    _mm512_storeu_si512(target, _mm512_maskz_compress_epi8(keep, bytes));
    target += _mm_popcnt_u64(keep);
  }
  from += after_ff;
  return from < end ? scalar::entropy_bytes.unstuff(target, from, end) : target;
}

}  // namespace

const EntropyBytes entropy_bytes = {find_marker, unstuff};

}  // namespace penstock::avx512
