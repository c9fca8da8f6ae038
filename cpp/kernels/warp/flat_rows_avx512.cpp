// Nearest warps whose rows stay close to rows of the source, as those of a small turn.
//
// The neighbours of such a row come from a few rows of the source, in order. So whole registers of
// those rows are loaded, and a byte shuffle takes each pixel from the row that it lies in.
// Registers of 64 pixels would reach into more rows, and take longer.
#include <immintrin.h>

#include <algorithm>

#include "kernels/warp/warp_rows.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 32;

struct Bytes {
  uint8_t at[64];
};

/// Byte 2 of each of 32 numbers in two registers.
constexpr Bytes third_bytes() {
  Bytes index{};
  for (int i = 0; i < 32; ++i) index.at[i] = static_cast<uint8_t>(4 * i + 2);
  return index;
}

alignas(64) constexpr Bytes kThirdBytes = third_bytes();

/// 16.16 bits of pixels that are a step apart from each other.
struct Places {
  __m512i low, high;

  explicit Places(uint32_t step) {
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    low = _mm512_mullo_epi32(numbers, _mm512_set1_epi32(static_cast<int32_t>(step)));
    high = _mm512_add_epi32(low, _mm512_set1_epi32(static_cast<int32_t>(16 * step)));
  }
  Places from(int32_t first) const {
    Places places = *this;
    places.low = _mm512_add_epi32(low, _mm512_set1_epi32(first));
    places.high = _mm512_add_epi32(high, _mm512_set1_epi32(first));
    return places;
  }
  /// The low bytes of the whole parts.
  __m256i bytes() const {
    return _mm512_castsi512_si256(
        _mm512_permutex2var_epi8(low, _mm512_load_si512(&kThirdBytes), high));
  }
  /// Which of them are not negative and below `end`.
  __mmask32 before(int end) const {
    const __m512i limit = _mm512_set1_epi32(end << 16);
    return _mm512_cmplt_epu32_mask(low, limit) | uint32_t{_mm512_cmplt_epu32_mask(high, limit)}
                                                     << 16;
  }
};

/// Some pixels of a row of the output: where they lie in the source, and what that takes.
struct FlatPart {
  /// `count` pixels from (y, x) of the output on.
  FlatPart(const FixedMatrix& m, int y, int x, int count, const PlanarView& in) {
    const auto row = static_cast<uint32_t>(y), column = static_cast<uint32_t>(x);
    across = static_cast<int32_t>(m.a * column + m.b * row + m.c);
    down = static_cast<int32_t>(m.d * column + m.e * row + m.f);
    const int64_t steps = count - 1;
    const int64_t left = across >> 16, right = (across + steps * static_cast<int32_t>(m.a)) >> 16;
    base = static_cast<int>(std::clamp<int64_t>(left, 0, in.width));
    is_inside = left >= 0 && right < in.width;
    const int64_t last_down = down + steps * static_cast<int32_t>(m.d);
    const int64_t highest = std::min<int64_t>(down, last_down) >> 16;
    const int64_t lowest = std::max<int64_t>(down, last_down) >> 16;
    top = static_cast<int>(std::clamp<int64_t>(highest, 0, in.height));
    end = static_cast<int>(std::clamp<int64_t>(lowest + 1, top, in.height));
  }

  int32_t across, down;  // of the first pixel, in 16.16 bits
  int base;              // the first column to load
  bool is_inside;        // whether all columns are in the image
  int top, end;          // the rows to load
};

template <int kPlanes>
void copy(const RowPart& part, const PlanarView& in, const FixedMatrix& matrix,
          const uint8_t (&fill)[3]) {
  const Places steps_across(matrix.a), steps_down(matrix.d);
  const int last_plane = in.channels - 1;
  for (int x = 0; x < part.count; x += kStep) {
    const int count = std::min(kStep, part.count - x);
    const FlatPart flat(matrix, part.y, part.x + x, count, in);
    const Places across = steps_across.from(flat.across);
    const __m256i column =
        _mm256_sub_epi8(across.bytes(), _mm256_set1_epi8(static_cast<char>(flat.base)));
    const __m256i row = steps_down.from(flat.down).bytes();
    const __mmask32 inside = flat.is_inside ? ~__mmask32{0} : across.before(in.width);
    __m256i pixels[kPlanes];
    const uint8_t* source[kPlanes];
    for (int c = 0; c < kPlanes; ++c) {
      pixels[c] = _mm256_set1_epi8(static_cast<char>(fill[c]));
      source[c] = in.row(std::min(c, last_plane), flat.top) + flat.base;
    }
    for (int y = flat.top; y < flat.end; ++y) {
      const __mmask32 here =
          _mm256_mask_cmpeq_epi8_mask(inside, row, _mm256_set1_epi8(static_cast<char>(y)));
      for (int c = 0; c < kPlanes; ++c) {
        pixels[c] = _mm256_mask_permutexvar_epi8(
            pixels[c], here, column,
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source[c])));
        source[c] += in.stride;
      }
    }
    const __mmask32 stored = ~uint32_t{0} >> (kStep - count);
    for (int c = 0; c < kPlanes; ++c)
      _mm256_mask_storeu_epi8(part.pixels[c] + x, stored, pixels[c]);
  }
}

}  // namespace

void copy_flat(const RowPart& part, const PlanarView& in, const FixedMatrix& matrix,
               const uint8_t (&fill)[3]) {
  (part.channels == 1 ? copy<1> : copy<3>)(part, in, matrix, fill);
}

}  // namespace penstock::avx512
