#include <immintrin.h>

#include <algorithm>
#include <array>

#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 64;

using Permutation = std::array<uint8_t, kStep>;

// Which byte of which of three vectors becomes byte i of vector `part`. The first two are chosen
// from by one permutation (index 0..127), the third by a masked second one.
struct Merge {
  Permutation of_first_two{};
  Permutation of_third{};
  uint64_t from_third = 0;

  constexpr void set(int i, int vector, int byte) {
    if (vector == 2) {
      of_third[i] = static_cast<uint8_t>(byte);
      from_third |= uint64_t{1} << i;
    } else {
      of_first_two[i] = static_cast<uint8_t>(vector * kStep + byte);
    }
  }
};

using Merges = std::array<Merge, 3>;

constexpr Merges kInterleave = [] {
  Merges merges{};
  for (int i = 0; i < 3 * kStep; ++i) merges[i / kStep].set(i % kStep, i % 3, i / 3);
  return merges;
}();

constexpr Merges kDeinterleave = [] {
  Merges merges{};
  for (int i = 0; i < 3 * kStep; ++i) merges[i % 3].set(i / 3, i / kStep, i % kStep);
  return merges;
}();

__m512i merge(const Merge& m, __m512i first, __m512i second, __m512i third) {
  const __m512i two =
      _mm512_permutex2var_epi8(first, _mm512_loadu_si512(m.of_first_two.data()), second);
  return _mm512_mask_permutexvar_epi8(two, m.from_third, _mm512_loadu_si512(m.of_third.data()),
                                      third);
}

void interleave(uint8_t* rgb, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                int width) {
  for (int x = 0; x < width; x += kStep) {
    const __m512i r = _mm512_loadu_si512(red + x);
    const __m512i g = _mm512_loadu_si512(green + x);
    const __m512i b = _mm512_loadu_si512(blue + x);
    for (int part = 0; part < 3; ++part, rgb += kStep)
      _mm512_storeu_si512(rgb, merge(kInterleave[part], r, g, b));
  }
}

// A mask for the first `count` bytes, which may be none or more than a vector.
__mmask64 first_bytes(int count) {
  return count >= kStep ? ~__mmask64{0} : count <= 0 ? 0 : (__mmask64{1} << count) - 1;
}

void deinterleave(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgb, int width) {
  uint8_t* const planes[3] = {red, green, blue};
  for (int x = 0; x < width; x += kStep, rgb += 3 * kStep) {
    const int bytes = 3 * std::min(width - x, kStep);
    const __m512i first = _mm512_maskz_loadu_epi8(first_bytes(bytes), rgb);
    const __m512i second = _mm512_maskz_loadu_epi8(first_bytes(bytes - kStep), rgb + kStep);
    const __m512i third = _mm512_maskz_loadu_epi8(first_bytes(bytes - 2 * kStep), rgb + 2 * kStep);
    for (int c = 0; c < 3; ++c)
      _mm512_storeu_si512(planes[c] + x, merge(kDeinterleave[c], first, second, third));
  }
}

void mirror(uint8_t* target, const uint8_t* source, int width) {
  constexpr Permutation kCountUp = [] {
    Permutation permutation{};
    for (int i = 0; i < kStep; ++i) permutation[i] = static_cast<uint8_t>(i);
    return permutation;
  }();
  const __m512i count_up = _mm512_loadu_si512(kCountUp.data());
  for (int left = width; left > 0; left -= kStep, target += kStep) {
    const int bytes = std::min(left, kStep);
    const __m512i block = _mm512_maskz_loadu_epi8(first_bytes(bytes), source + left - bytes);
    const __m512i backwards =
        _mm512_sub_epi8(_mm512_set1_epi8(static_cast<char>(bytes - 1)), count_up);
    _mm512_storeu_si512(target, _mm512_permutexvar_epi8(backwards, block));
  }
}

}  // namespace

const RowShuffle row_shuffle{interleave, deinterleave, mirror};

}  // namespace penstock::avx512
