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
__mmask64 first_bytes(int64_t count) {
  return _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(count < 0       ? 0
                                                       : count > kStep ? kStep
                                                                       : count));
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

// Bytes of two vectors, of 128: red and green of sixteen pixels, or blue and the fourth byte.
constexpr std::array<Permutation, 2> kPairs = [] {
  std::array<Permutation, 2> halves{};
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < kStep; ++i)
      halves[half][i] = static_cast<uint8_t>((half * kStep + i) / 2 + i % 2 * kStep);
  return halves;
}();

// 16-bit pairs of two vectors, of 64: red, green, blue and the fourth byte of sixteen pixels.
constexpr std::array<std::array<uint16_t, kStep / 2>, 2> kPixels = [] {
  std::array<std::array<uint16_t, kStep / 2>, 2> halves{};
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < kStep / 2; ++i)
      halves[half][i] = static_cast<uint16_t>((half * kStep / 2 + i) / 2 + i % 2 * (kStep / 2));
  return halves;
}();

void interleave_rgbx(uint8_t* rgbx, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                     int width) {
  const __m512i opaque = _mm512_set1_epi8(static_cast<char>(255));
  for (int x = 0; x < width; x += kStep, rgbx += 4 * kStep) {
    const __m512i r = _mm512_loadu_si512(red + x);
    const __m512i g = _mm512_loadu_si512(green + x);
    const __m512i b = _mm512_loadu_si512(blue + x);
    const int bytes = 4 * std::min(width - x, kStep);
    for (int half = 0; half < 2; ++half) {
      const __m512i pairs = _mm512_loadu_si512(kPairs[half].data());
      const __m512i rg = _mm512_permutex2var_epi8(r, pairs, g);
      const __m512i bx = _mm512_permutex2var_epi8(b, pairs, opaque);
      for (int part = 0; part < 2; ++part) {
        const int begin = (2 * half + part) * kStep;
        _mm512_mask_storeu_epi8(
            rgbx + begin, first_bytes(bytes - begin),
            _mm512_permutex2var_epi16(rg, _mm512_loadu_si512(kPixels[part].data()), bx));
      }
    }
  }
}

// Where the four bytes of each pixel of two vectors go: reds in front, then greens, blues, others.
constexpr std::array<Permutation, 2> kApart = [] {
  std::array<Permutation, 2> orders{};
  for (int i = 0; i < kStep; ++i) {
    // 32 pixels in two vectors: first reds and greens, then blues and the fourth bytes.
    orders[0][i] = static_cast<uint8_t>(4 * (i % 32) + i / 32);
    orders[1][i] = static_cast<uint8_t>(4 * (i % 32) + i / 32 + 2);
  }
  return orders;
}();

void deinterleave_rgbx(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgbx,
                       int width) {
  const __m512i rg_order = _mm512_loadu_si512(kApart[0].data());
  const __m512i bx_order = _mm512_loadu_si512(kApart[1].data());
  for (int x = 0; x < width; x += kStep / 2, rgbx += 2 * kStep) {
    const int bytes = 4 * std::min(width - x, kStep / 2);
    const __m512i first = _mm512_maskz_loadu_epi8(first_bytes(bytes), rgbx);
    const __m512i second = _mm512_maskz_loadu_epi8(first_bytes(bytes - kStep), rgbx + kStep);
    const __m512i rg = _mm512_permutex2var_epi8(first, rg_order, second);
    const __m512i bx = _mm512_permutex2var_epi8(first, bx_order, second);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(red + x), _mm512_castsi512_si256(rg));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(green + x), _mm512_extracti64x4_epi64(rg, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(blue + x), _mm512_castsi512_si256(bx));
  }
}

// Without calls for a few bytes, and nothing is written twice.
template <int kPlanes>
void shift_planes(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y,
                  int64_t by, const uint8_t (&fill)[3]) {
  const bool is_there = in_y >= 0 && in_y < in.height;
  const int64_t begin = -by, end = is_there ? in.width - by : 0;
  const int width = out.width;
  const uint8_t* source[kPlanes];
  uint8_t* target[kPlanes];
  __m512i around[kPlanes];
  for (int c = 0; c < kPlanes; ++c) {
    source[c] = in.plane[c < in.channels ? c : in.channels - 1] + (is_there ? in_y : 0) * in.stride;
    target[c] = out.row(c, out_y);
    around[c] = _mm512_set1_epi8(static_cast<char>(fill[c]));
  }
  for (int x = 0; x < width; x += kStep) {
    const __mmask64 inside = first_bytes(end - x) & ~first_bytes(begin - x);
    for (int c = 0; c < kPlanes; ++c) {
      // A byte that is not inside may be anywhere: it is not read.
      const __m512i pixels =
          inside == 0 ? around[c] : _mm512_mask_loadu_epi8(around[c], inside, source[c] + (x + by));
      _mm512_storeu_si512(target[c] + x, pixels);
    }
  }
}

void shift(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y, int64_t by,
           const uint8_t (&fill)[3]) {
  (out.channels == 1 ? shift_planes<1> : shift_planes<3>)(out, in, out_y, in_y, by, fill);
}

void copy(uint8_t* target, const uint8_t* source, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kStep) {
    const __mmask64 inside = first_bytes(static_cast<int64_t>(bytes - i));
    _mm512_mask_storeu_epi8(target + i, inside, _mm512_maskz_loadu_epi8(inside, source + i));
  }
}

void stream(uint8_t* target, const uint8_t* source, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kStep)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i), _mm512_loadu_si512(source + i));
}

}  // namespace

const RowShuffle row_shuffle{interleave,        deinterleave, mirror, interleave_rgbx,
                             deinterleave_rgbx, shift,        copy,   stream};

}  // namespace penstock::avx512
