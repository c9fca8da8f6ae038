#include <immintrin.h>

#include "codec/entropy_bytes.h"

namespace penstock::avx2 {
namespace {

constexpr ptrdiff_t kLane = 32;

__m256i load(const uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

uint32_t bytes_equal(__m256i bytes, int value) {
  const __m256i equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(static_cast<char>(value)));
  return static_cast<uint32_t>(_mm256_movemask_epi8(equal));
}

const uint8_t* find_marker(const uint8_t* from, const uint8_t* end) {
  for (; end - from > kLane; from += kLane) {
    const uint32_t ff = bytes_equal(load(from), 0xFF);
    if (ff == 0) continue;
    const uint32_t markers = ff & ~bytes_equal(load(from + 1), 0);
    if (markers != 0) return from + _tzcnt_u32(markers);
  }
  return scalar::entropy_bytes.find_marker(from, end);
}

uint8_t* unstuff(uint8_t* target, const uint8_t* from, const uint8_t* end) {
  while (end - from >= kLane) {
    const __m256i bytes = load(from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), bytes);
    const uint32_t ff = bytes_equal(bytes, 0xFF);
    const uint32_t plain = _tzcnt_u32(ff);  // 32 without any
    const uint32_t stuffed = ff != 0;
    target += plain + stuffed;
    from += plain + 2 * stuffed;
  }
  // A stuffed zero may have been the range's last byte.
  return from < end ? scalar::entropy_bytes.unstuff(target, from, end) : target;
}

}  // namespace

const EntropyBytes entropy_bytes = {find_marker, unstuff};

}  // namespace penstock::avx2
