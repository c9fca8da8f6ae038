// AVX2: eight outputs, four taps each, in four multiply-adds.
#include <immintrin.h>

#include "kernels/resample/avx2.h"

namespace penstock::avx2 {
namespace {

using Vector = __m256i;

constexpr int kBlock = 4 * kLanes;  // columns of one vector of bytes

Vector load(const void* address) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(address));
}
void store(void* address, Vector value) {
  _mm256_storeu_si256(static_cast<__m256i*>(address), value);
}

struct FactorVectors {
  Vector low_even, low_odd, high_even, high_odd;
};

FactorVectors load_factors(const VectorFactors& f) {
  return {load(f.low_even), load(f.low_odd), load(f.high_even), load(f.high_odd)};
}

FactorVectors broadcast(const Factors& f) {
  return {_mm256_set1_epi32(f.low_even), _mm256_set1_epi32(f.low_odd),
          _mm256_set1_epi32(f.high_even), _mm256_set1_epi32(f.high_odd)};
}

struct Sum {
  Vector low = _mm256_set1_epi32(1 << (kCoefficientBits - 1));  // Pillow's rounding term
  Vector high = _mm256_setzero_si256();

  void add(Vector quads, const FactorVectors& f) {
    const Vector even = _mm256_and_si256(quads, _mm256_set1_epi16(0xFF));
    const Vector odd = _mm256_srli_epi16(quads, 8);
    low = _mm256_add_epi32(low, _mm256_add_epi32(_mm256_madd_epi16(even, f.low_even),
                                                 _mm256_madd_epi16(odd, f.low_odd)));
    high = _mm256_add_epi32(high, _mm256_add_epi32(_mm256_madd_epi16(even, f.high_even),
                                                   _mm256_madd_epi16(odd, f.high_odd)));
  }

  Vector level() const {
    return _mm256_srai_epi32(_mm256_add_epi32(low, _mm256_slli_epi32(high, kLowBits)),
                             kCoefficientBits);
  }
};

// Clips four vectors of levels to bytes: word r of each 128-bit lane comes from levels[r].
Vector clip(const Vector (&levels)[4]) {
  return _mm256_packus_epi16(_mm256_packs_epi32(levels[0], levels[1]),
                             _mm256_packs_epi32(levels[2], levels[3]));
}

// Within each 128-bit lane: byte 4 r + x to 4 x + r. Its own inverse.
Vector transpose_bytes(Vector value) {
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm256_shuffle_epi8(value, _mm256_broadcastsi128_si256(order));
}

// Word r of the lower and of the upper lane next to each other.
Vector join_lanes(Vector value) {
  return _mm256_permutevar8x32_epi32(value, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// ---- horizontal ----

// Two halves of 16 bytes, each from a place of its own.
Vector load_halves(const uint8_t* row, const int32_t* base) {
  return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(row + base[1]),
                             reinterpret_cast<const __m128i*>(row + base[0]));
}

// The samples of eight outputs, which lie in 16 or 32 bytes from the half vector's base on.
template <int kFetch>
struct Fetcher {
  explicit Fetcher(Vector index)
      : in_first(kFetch == from_32 ? _mm256_adds_epu8(index, _mm256_set1_epi8(0x70)) : index),
        in_second(_mm256_sub_epi8(index, _mm256_set1_epi8(16))) {}

  Vector quads(const uint8_t* row, const int32_t* base) const {
    if constexpr (kFetch == gathered)
      return _mm256_i32gather_epi32(reinterpret_cast<const int*>(row), in_first, 1);
    const Vector first = _mm256_shuffle_epi8(load_halves(row, base), in_first);
    if constexpr (kFetch == from_16) return first;
    return _mm256_or_si256(first, _mm256_shuffle_epi8(load_halves(row + 16, base), in_second));
  }

  // An index with its highest bit set selects nothing: indices of the other 16 bytes have it.
  Vector in_first;
  Vector in_second;
};

template <int kFetch, bool kOneQuad>
void resize_columns(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table) {
  const int quads = kOneQuad ? 1 : table.taps.max_quads;
  const int32_t* base = table.bases.data<int32_t>();
  const uint8_t* indices = table.indices.data();
  const VectorFactors* factors = table.factors.data<VectorFactors>();
  for (int x = 0; x < table.taps.count; x += kLanes) {
    const Fetcher<kFetch> fetch(load(indices));
    Sum sums[kQuad];
    for (int q = 0; q < quads; ++q, ++factors) {
      const FactorVectors f = load_factors(*factors);
      for (int r = 0; r < kQuad; ++r) sums[r].add(fetch.quads(rows[r] + q * kQuad, base), f);
    }
    store(group + x * kQuad, transpose_bytes(clip({sums[0].level(), sums[1].level(),
                                                   sums[2].level(), sums[3].level()})));
    base += 2;
    indices += kVectorBytes;
  }
}

void horizontal(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table) {
  switch (table.fetch) {
    case from_16:
      return table.taps.max_quads == 1 ? resize_columns<from_16, true>(group, rows, table)
                                       : resize_columns<from_16, false>(group, rows, table);
    case from_32:
      return resize_columns<from_32, false>(group, rows, table);
    default:
      return resize_columns<gathered, false>(group, rows, table);
  }
}

// ---- vertical ----

// Few quads: all factors stay in registers.
template <int kQuads>
void combine_few(uint8_t* row, const uint8_t* const* groups, const Factors* factors, int columns) {
  FactorVectors f[kQuads];
  for (int q = 0; q < kQuads; ++q) f[q] = broadcast(factors[q]);
  for (int x = 0; x < columns; x += kBlock) {
    Vector levels[4];
    for (int i = 0; i < 4; ++i) {
      Sum sum;
      for (int q = 0; q < kQuads; ++q)
        sum.add(load(groups[q] + x * kQuad + i * kVectorBytes), f[q]);
      levels[i] = sum.level();
    }
    store(row + x, join_lanes(clip(levels)));
  }
}

void combine_many(uint8_t* row, const uint8_t* const* groups, const Factors* factors, int quads,
                  int columns) {
  for (int x = 0; x < columns; x += kBlock) {
    Sum sums[4];
    for (int q = 0; q < quads; ++q) {
      const FactorVectors f = broadcast(factors[q]);
      for (int i = 0; i < 4; ++i) sums[i].add(load(groups[q] + x * kQuad + i * kVectorBytes), f);
    }
    store(row + x,
          join_lanes(clip({sums[0].level(), sums[1].level(), sums[2].level(), sums[3].level()})));
  }
}

void vertical(uint8_t* row, const uint8_t* const* groups, const RowTable& table, int output,
              int columns) {
  const Factors* factors =
      table.factors.data<Factors>() + static_cast<size_t>(output) * table.taps.max_quads;
  switch (const int quads = table.taps.quads[output]) {
    case 1:
      return combine_few<1>(row, groups, factors, columns);
    case 2:
      return combine_few<2>(row, groups, factors, columns);
    default:
      return combine_many(row, groups, factors, quads, columns);
  }
}

// ---- weaving ----

void weave(uint8_t* group, const uint8_t* const rows[kQuad], int columns) {
  // Unpacking works within 128-bit lanes: deal the words out so that columns come out in order.
  const Vector deal = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  for (int x = 0; x < columns; x += kBlock, group += kBlock * kQuad) {
    Vector row[kQuad];
    for (int r = 0; r < kQuad; ++r) row[r] = _mm256_permutevar8x32_epi32(load(rows[r] + x), deal);
    const Vector low_01 = _mm256_unpacklo_epi8(row[0], row[1]);
    const Vector low_23 = _mm256_unpacklo_epi8(row[2], row[3]);
    const Vector high_01 = _mm256_unpackhi_epi8(row[0], row[1]);
    const Vector high_23 = _mm256_unpackhi_epi8(row[2], row[3]);
    store(group, _mm256_unpacklo_epi16(low_01, low_23));
    store(group + 32, _mm256_unpackhi_epi16(low_01, low_23));
    store(group + 64, _mm256_unpacklo_epi16(high_01, high_23));
    store(group + 96, _mm256_unpackhi_epi16(high_01, high_23));
  }
}

void unweave(uint8_t* const rows[kQuad], const uint8_t* group, int columns) {
  for (int x = 0; x < columns; x += kLanes) {
    const Vector quarters = join_lanes(transpose_bytes(load(group + x * kQuad)));
    const auto put = [x](uint8_t* row, __m128i eight) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(row + x), eight);
    };
    const __m128i low = _mm256_castsi256_si128(quarters);
    const __m128i high = _mm256_extracti128_si256(quarters, 1);
    put(rows[0], low);
    put(rows[1], _mm_unpackhi_epi64(low, low));
    put(rows[2], high);
    put(rows[3], _mm_unpackhi_epi64(high, high));
  }
}

}  // namespace

const RowKernels row_kernels{prepare_columns, prepare_rows, horizontal, vertical, weave, unweave};

}  // namespace penstock::avx2
