#include <immintrin.h>

#include "kernels/filter/sharpen.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 64;

// Blending by table: what a difference d = image - smooth adds to the smooth level depends on |d|
// and its sign only, so two tables of 256 bytes replace the floating-point arithmetic.
struct BlendTables {
  alignas(64) uint8_t raise[256];  // |factor * d|, for where that is added
  alignas(64) uint8_t lower[256];  // ... and for where it is subtracted, which truncates otherwise
  bool exact;
};

// Pillow truncates smooth + t, with t = factor * d, after rounding the sum to float32. As long as
// that rounding does not reach the next integer, and it cannot if t keeps this distance from
// integers it does not equal, the result is the smooth level plus a whole number.
constexpr float kSafeDistance = 0x1p-16f;

BlendTables make_tables(float factor) {
  BlendTables tables;
  bool exact = true;
  const float magnitude = factor < 0 ? -factor : factor;
  for (int d = 0; d < 256; ++d) {
    const float product = magnitude * static_cast<float>(d);
    const float t = product < 255 ? product : 255;  // more saturates anyway
    const int whole = static_cast<int>(t);
    const float rest = t - static_cast<float>(whole);
    exact &= (rest == 0) | ((rest >= kSafeDistance) & (rest <= 1 - kSafeDistance));
    tables.raise[d] = static_cast<uint8_t>(whole);
    tables.lower[d] = static_cast<uint8_t>(rest > 0 ? whole + 1 : whole);
  }
  tables.exact = exact;
  return tables;
}

class Table {
 public:
  explicit Table(const uint8_t (&bytes)[256]) {
    for (int i = 0; i < 4; ++i) part_[i] = _mm512_load_si512(bytes + 64 * i);
  }

  __m512i operator[](__m512i index) const {
    const __m512i low = _mm512_permutex2var_epi8(part_[0], index, part_[1]);
    const __m512i high = _mm512_permutex2var_epi8(part_[2], index, part_[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
  }

  /// For indices below 128.
  __m512i low(__m512i index) const { return _mm512_permutex2var_epi8(part_[0], index, part_[1]); }

 private:
  __m512i part_[4];
};

__m512i load(const uint8_t* bytes) { return _mm512_loadu_si512(bytes); }

// 64 columns as 16-bit words, in the order in which unpacking bytes leaves them.
struct Words {
  __m512i low;
  __m512i high;
};

Words add(Words a, Words b) {
  return {_mm512_add_epi16(a.low, b.low), _mm512_add_epi16(a.high, b.high)};
}

Words unpack(__m512i bytes) {
  const __m512i zero = _mm512_setzero_si512();
  return {_mm512_unpacklo_epi8(bytes, zero), _mm512_unpackhi_epi8(bytes, zero)};
}

Words subtract(Words a, Words b) {
  return {_mm512_sub_epi16(a.low, b.low), _mm512_sub_epi16(a.high, b.high)};
}

/// A row's pixels, and the sums of each with its two neighbours.
struct Row {
  explicit Row(const uint8_t* pixel) : levels(load(pixel)), words(unpack(levels)) {
    const __m512i left = load(pixel - 1), right = load(pixel + 1), ones = _mm512_set1_epi8(1);
    sums = add({_mm512_maddubs_epi16(_mm512_unpacklo_epi8(left, right), ones),
                _mm512_maddubs_epi16(_mm512_unpackhi_epi8(left, right), ones)},
               words);
  }
  __m512i levels;
  Words words;
  Words sums;
};

// (nine + 4 * centre + 6) / 13, as a product with 2^16 / 13 rounded up.
__m512i smooth(Words nine_and_six, Words centre) {
  const auto divide = [](__m512i sum, __m512i centres) {
    return _mm512_mulhi_epu16(_mm512_add_epi16(sum, _mm512_slli_epi16(centres, 2)),
                              _mm512_set1_epi16(5042));
  };
  return _mm512_packus_epi16(divide(nine_and_six.low, centre.low),
                             divide(nine_and_six.high, centre.high));
}

template <bool kNegative>
__m512i blend(__m512i smooth_levels, __m512i levels, const Table& raise, const Table& lower) {
  const __m512i above = _mm512_subs_epu8(levels, smooth_levels);
  const __m512i below = _mm512_subs_epu8(smooth_levels, levels);
  const __m512i up = kNegative ? below : above, down = kNegative ? above : below;
  __m512i added = raise.low(up), taken = lower.low(down);
  if (_mm512_movepi8_mask(_mm512_or_si512(above, below)) != 0) [[unlikely]] {
    added = raise[up];
    taken = lower[down];
  }
  return _mm512_subs_epu8(_mm512_adds_epu8(smooth_levels, added), taken);
}

// Goes down strips of columns, so that the sums of the rows above are still in registers.
template <bool kNegative>
void sharpen_strips(const PlanarTarget& to, const PlanarView& from, int channel,
                    const BlendTables& tables) {
  const Table raise(tables.raise), lower(tables.lower);
  const __m512i six = _mm512_set1_epi16(6);
  const ptrdiff_t in_stride = from.stride, out_stride = to.stride;
  const int last_row = from.height - 1, last_column = from.width - 1;
  // Only the first strip is not aligned, which begins behind the first column.
  for (int x = 1; x < last_column; x = x / kStep * kStep + kStep) {
    const uint8_t* in = from.row(channel, 0) + x;
    Row above(in), here(in += in_stride);
    Words two = add({six, six}, add(above.sums, here.sums));
    uint8_t* out = to.row(channel, 1) + x;
    for (int y = 1; y < last_row; ++y, out += out_stride) {
      const Row below(in += in_stride);
      const Words nine = add(two, below.sums);
      two = subtract(nine, above.sums);
      const __m512i smoothed = smooth(nine, here.words);
      _mm512_storeu_si512(out, blend<kNegative>(smoothed, here.levels, raise, lower));
      above = here;
      here = below;
    }
  }
}

}  // namespace

void sharpen_inside(const PlanarTarget& out, const PlanarView& in, float factor) {
  const BlendTables tables = make_tables(factor);
  if (!tables.exact) return avx2::sharpen_inside(out, in, factor);
  for (int c = 0; c < in.channels; ++c)
    (factor < 0 ? sharpen_strips<true> : sharpen_strips<false>)(out, in, c, tables);
}

}  // namespace penstock::avx512
