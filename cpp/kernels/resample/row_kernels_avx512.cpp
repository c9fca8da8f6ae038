// AVX-512 with VBMI and VNNI: sixteen outputs, four taps each, in one instruction a digit.
#include <immintrin.h>

#include <array>

#include "kernels/resample/avx512.h"

namespace penstock::avx512 {
namespace {

using Vector = __m512i;
struct Four {
  Vector at[4];
  Vector& operator[](int i) { return at[i]; }
  const Vector& operator[](int i) const { return at[i]; }
};
using Permutation = std::array<uint8_t, 64>;

Vector load(const void* address) { return _mm512_loadu_si512(address); }
void store(void* address, Vector value) { _mm512_storeu_si512(address, value); }
Vector load(const Permutation& permutation) { return load(permutation.data()); }

// Pillow's rounding term, 2^21, in units of digit c.
Vector half() { return _mm512_set1_epi32(1 << (kCoefficientBits - 1 - 16)); }

Four all(Vector value) { return {{value, value, value, value}}; }

Vector combine(Vector a, Vector b, Vector c) {
  return _mm512_add_epi32(a, _mm512_slli_epi32(_mm512_add_epi32(b, _mm512_slli_epi32(c, 8)), 8));
}

// ---- four vectors of sums to one vector of bytes ----

// Lane x of vector r ends up as byte r of word x.
template <bool kClip>
Vector weave_sums(const Four& sums) {
  if constexpr (kClip) {
    const Vector low = _mm512_packs_epi32(_mm512_srai_epi32(sums[0], kCoefficientBits),
                                          _mm512_srai_epi32(sums[1], kCoefficientBits));
    const Vector high = _mm512_packs_epi32(_mm512_srai_epi32(sums[2], kCoefficientBits),
                                           _mm512_srai_epi32(sums[3], kCoefficientBits));
    const __m128i transpose = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_shuffle_epi8(_mm512_packus_epi16(low, high), _mm512_broadcast_i32x4(transpose));
  } else {
    // Bits 22..29 of each 32-bit lane, wherever they are to go.
    const Vector fields = _mm512_set1_epi64(0x3636363616161616);
    Vector woven = _mm512_multishift_epi64_epi8(fields, sums[0]);
    woven = _mm512_mask_multishift_epi64_epi8(woven, 0x2222222222222222, fields, sums[1]);
    woven = _mm512_mask_multishift_epi64_epi8(woven, 0x4444444444444444, fields, sums[2]);
    return _mm512_mask_multishift_epi64_epi8(woven, 0x8888888888888888, fields, sums[3]);
  }
}

// Byte r of word x goes to byte 16 r + x.
constexpr Permutation kUnweave = [] {
  Permutation permutation{};
  for (int i = 0; i < 64; ++i) permutation[i] = static_cast<uint8_t>((i % 16) * 4 + i / 16);
  return permutation;
}();

// ---- horizontal ----

template <int kFetch>
Vector fetch_quads(const uint8_t* row, Vector index) {
  if constexpr (kFetch == from_64) return _mm512_permutexvar_epi8(index, load(row));
  if constexpr (kFetch == from_128)
    return _mm512_permutex2var_epi8(load(row), index, load(row + 64));
  if constexpr (kFetch == from_256) {
    const Vector near = _mm512_permutex2var_epi8(load(row), index, load(row + 64));
    const Vector far = _mm512_permutex2var_epi8(load(row + 128), index, load(row + 192));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), near, far);
  }
  return _mm512_i32gather_epi32(index, row, 1);
}

template <int kFetch, bool kClip>
void resize_columns(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table) {
  const int quads = table.taps.max_quads;
  const int32_t* base = table.bases.data<int32_t>();
  const uint8_t* indices = table.indices.data();
  const uint8_t* factor = table.factors.data();
  for (int x = 0; x < table.taps.count; x += kLanes) {
    const Vector index = load(indices);
    Four sums;
    if (quads == 1) {
      const Vector a = load(factor), b = load(factor + 64), c = load(factor + 128);
      for (int r = 0; r < kQuad; ++r) {
        const Vector samples = fetch_quads<kFetch>(rows[r] + *base, index);
        Vector sum = _mm512_slli_epi32(_mm512_dpbusd_epi32(half(), samples, c), 8);
        sum = _mm512_slli_epi32(_mm512_dpbusd_epi32(sum, samples, b), 8);
        sums[r] = _mm512_dpbusd_epi32(sum, samples, a);
      }
      factor += kDigits * kVectorBytes;
    } else {
      Four sum_a{}, sum_b{}, sum_c = all(half());
      for (int q = 0; q < quads; ++q, factor += kDigits * kVectorBytes) {
        const Vector a = load(factor), b = load(factor + 64), c = load(factor + 128);
        for (int r = 0; r < kQuad; ++r) {
          const Vector samples = fetch_quads<kFetch>(rows[r] + *base + q * kQuad, index);
          sum_a[r] = _mm512_dpbusd_epi32(sum_a[r], samples, a);
          sum_b[r] = _mm512_dpbusd_epi32(sum_b[r], samples, b);
          sum_c[r] = _mm512_dpbusd_epi32(sum_c[r], samples, c);
        }
      }
      for (int r = 0; r < kQuad; ++r) sums[r] = combine(sum_a[r], sum_b[r], sum_c[r]);
    }
    store(group + x * kQuad, weave_sums<kClip>(sums));
    ++base;
    indices += kVectorBytes;
  }
}

template <bool kClip>
void resize_columns(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table) {
  switch (table.fetch) {
    case from_64:
      return resize_columns<from_64, kClip>(group, rows, table);
    case from_128:
      return resize_columns<from_128, kClip>(group, rows, table);
    case from_256:
      return resize_columns<from_256, kClip>(group, rows, table);
    default:
      return resize_columns<gathered, kClip>(group, rows, table);
  }
}

void horizontal(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table) {
  if (table.taps.may_overshoot)
    resize_columns<true>(group, rows, table);
  else
    resize_columns<false>(group, rows, table);
}

// ---- vertical ----

// Few quads: all digits stay in registers.
template <int kQuads, bool kClip>
void combine_few(uint8_t* row, const uint8_t* const* groups, const int32_t* factors, size_t n,
                 int columns) {
  Vector digit[kQuads][kDigits];
  for (int q = 0; q < kQuads; ++q)
    for (int d = 0; d < kDigits; ++d)
      digit[q][d] = _mm512_set1_epi32(factors[row_factor(n + q) + d * kQuad]);
  for (int x = 0; x < columns; x += kColumnBlock) {
    Four sums;
    for (int i = 0; i < 4; ++i) {
      Vector samples[kQuads];
      for (int q = 0; q < kQuads; ++q) samples[q] = load(groups[q] + x * kQuad + i * kVectorBytes);
      Vector sum = half();
      for (int d = kDigits - 1; d >= 0; --d) {
        if (d != kDigits - 1) sum = _mm512_slli_epi32(sum, 8);
        for (int q = 0; q < kQuads; ++q) sum = _mm512_dpbusd_epi32(sum, samples[q], digit[q][d]);
      }
      sums[i] = sum;
    }
    store(row + x, _mm512_permutexvar_epi8(load(kUnweave), weave_sums<kClip>(sums)));
  }
}

template <bool kClip>
void combine_many(uint8_t* row, const uint8_t* const* groups, const int32_t* factors, size_t n,
                  int quads, int columns) {
  for (int x = 0; x < columns; x += kColumnBlock) {
    Four sum_a{}, sum_b{}, sum_c = all(half());
    for (int q = 0; q < quads; ++q) {
      const int32_t* factor = factors + row_factor(n + q);
      const Vector a = _mm512_set1_epi32(factor[0]);
      const Vector b = _mm512_set1_epi32(factor[kQuad]);
      const Vector c = _mm512_set1_epi32(factor[2 * kQuad]);
      for (int i = 0; i < 4; ++i) {
        const Vector samples = load(groups[q] + x * kQuad + i * kVectorBytes);
        sum_a[i] = _mm512_dpbusd_epi32(sum_a[i], samples, a);
        sum_b[i] = _mm512_dpbusd_epi32(sum_b[i], samples, b);
        sum_c[i] = _mm512_dpbusd_epi32(sum_c[i], samples, c);
      }
    }
    Four sums;
    for (int i = 0; i < 4; ++i) sums[i] = combine(sum_a[i], sum_b[i], sum_c[i]);
    store(row + x, _mm512_permutexvar_epi8(load(kUnweave), weave_sums<kClip>(sums)));
  }
}

template <bool kClip>
void combine_rows(uint8_t* row, const uint8_t* const* groups, const RowTable& table, int output,
                  int columns) {
  const int32_t* factors = table.factors.data<int32_t>();
  const size_t n = static_cast<size_t>(output) * table.taps.max_quads;
  switch (const int quads = table.taps.quads[output]) {
    case 1:
      return combine_few<1, kClip>(row, groups, factors, n, columns);
    case 2:
      return combine_few<2, kClip>(row, groups, factors, n, columns);
    case 3:
      return combine_few<3, kClip>(row, groups, factors, n, columns);
    default:
      return combine_many<kClip>(row, groups, factors, n, quads, columns);
  }
}

void vertical(uint8_t* row, const uint8_t* const* groups, const RowTable& table, int output,
              int columns) {
  if (table.taps.may_overshoot)
    combine_rows<true>(row, groups, table, output, columns);
  else
    combine_rows<false>(row, groups, table, output, columns);
}

// ---- weaving ----

void weave(uint8_t* group, const uint8_t* const rows[kQuad], int columns) {
  // Unpacking works within 128-bit lanes: deal the words out so that columns come out in order.
  const Vector deal = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (int x = 0; x < columns; x += kColumnBlock, group += kColumnBlock * kQuad) {
    Vector row[kQuad];
    for (int r = 0; r < kQuad; ++r) row[r] = _mm512_permutexvar_epi32(deal, load(rows[r] + x));
    const Vector low_01 = _mm512_unpacklo_epi8(row[0], row[1]);
    const Vector low_23 = _mm512_unpacklo_epi8(row[2], row[3]);
    const Vector high_01 = _mm512_unpackhi_epi8(row[0], row[1]);
    const Vector high_23 = _mm512_unpackhi_epi8(row[2], row[3]);
    store(group, _mm512_unpacklo_epi16(low_01, low_23));
    store(group + 64, _mm512_unpackhi_epi16(low_01, low_23));
    store(group + 128, _mm512_unpacklo_epi16(high_01, high_23));
    store(group + 192, _mm512_unpackhi_epi16(high_01, high_23));
  }
}

void unweave(uint8_t* const rows[kQuad], const uint8_t* group, int columns) {
  for (int x = 0; x < columns; x += kLanes) {
    const Vector quarters = _mm512_permutexvar_epi8(load(kUnweave), load(group + x * kQuad));
    const auto put = [x](uint8_t* row, __m128i quarter) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(row + x), quarter);
    };
    put(rows[0], _mm512_castsi512_si128(quarters));
    put(rows[1], _mm512_extracti32x4_epi32(quarters, 1));
    put(rows[2], _mm512_extracti32x4_epi32(quarters, 2));
    put(rows[3], _mm512_extracti32x4_epi32(quarters, 3));
  }
}

}  // namespace

const RowKernels row_kernels{prepare_columns, prepare_rows, horizontal, vertical, weave, unweave};

}  // namespace penstock::avx512
