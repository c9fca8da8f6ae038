// Loops that a compiler makes vectors of, where the set has some; and bytes that are fetched by one
// permutation, where it has that.
#include <algorithm>
#include <cstring>

#include "base/image.h"
#include "kernels/resample/opencv_area_rows.h"

#if defined(PENSTOCK_ISA_AVX512)
#include <immintrin.h>
#endif

namespace penstock::PENSTOCK_ISA {
namespace {

void across_by_loops(float* __restrict target, const uint8_t* __restrict row,
                     const AreaTable& table, float* __restrict levels) {
  const int32_t* __restrict start = table.starts.data<int32_t>();
  const float* __restrict weights = table.weights.data<float>();
  const int columns = table.padded;
  for (int i = 0; i < table.samples; ++i) levels[i] = static_cast<float>(row[i]);
  for (int x = 0; x < columns; ++x) target[x] = levels[start[x]] * weights[x];
  for (int j = 1; j < table.taps; ++j) {
    weights += columns;
    const float* __restrict shifted = levels + j;
    for (int x = 0; x < columns; ++x) target[x] += shifted[start[x]] * weights[x];
  }
}

#if defined(PENSTOCK_ISA_AVX512)

constexpr int kOutputs = 16;  // in a vector
constexpr int kTogether = 4;  // taps of them that one permutation fetches
constexpr int kWindow = 128;  // bytes that it reads

static_assert(kAreaStep == kOutputs);

/// For each vector of outputs: where its window begins, and where in it the bytes of its taps lie,
/// four taps of all outputs after the other.
struct Fetch {
  alignas(64) uint8_t index[kTogether * kOutputs];
  int32_t base;
};

int fetches_of(const AreaTable& table) { return (table.taps + kTogether - 1) / kTogether; }

void prepare(AreaTable& table) {
  const int32_t* start = table.starts.data<int32_t>();
  const int vectors = table.padded / kOutputs, each = fetches_of(table);
  Fetch* fetch = table.prepared.reserve<Fetch>(static_cast<size_t>(vectors * each));
  // A window must end where a row may still be read.
  const int last_base = table.samples + kRowSlack - kWindow;
  table.is_prepared = last_base >= 0;
  for (int v = 0; v < vectors && table.is_prepared; ++v, start += kOutputs) {
    const int base = std::min(*std::min_element(start, start + kOutputs), last_base);
    for (int f = 0; f < each; ++f, ++fetch) {
      fetch->base = base;
      for (int t = 0; t < kTogether; ++t)
        for (int i = 0; i < kOutputs; ++i) {
          // Those past the row, or past the taps, count nothing, whatever is there.
          const int sample = std::min(start[i] + f * kTogether + t, table.samples - 1);
          const bool counts = f * kTogether + t < table.taps;
          if (counts && sample - base >= kWindow) table.is_prepared = false;
          fetch->index[t * kOutputs + i] =
              static_cast<uint8_t>(std::min(sample - base, kWindow - 1));
        }
    }
  }
}

template <int kPart>
__m512 floats_of(__m512i bytes) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, kPart)));
}

void across(float* target, const uint8_t* row, const AreaTable& table, float* levels) {
  if (!table.is_prepared) return across_by_loops(target, row, table, levels);
  const Fetch* fetch = table.prepared.data<Fetch>();
  const int each = fetches_of(table);
  for (int x = 0; x < table.padded; x += kOutputs) {
    const float* weights = table.weights.data<float>() + x;
    const __m512i low = _mm512_loadu_si512(row + fetch->base);
    const __m512i high = _mm512_loadu_si512(row + fetch->base + sizeof low);
    __m512 sum = _mm512_setzero_ps();
    for (int f = 0; f < each; ++f, ++fetch) {
      const __m512i bytes = _mm512_permutex2var_epi8(low, _mm512_load_si512(fetch->index), high);
      const __m512 parts[kTogether] = {floats_of<0>(bytes), floats_of<1>(bytes),
                                       floats_of<2>(bytes), floats_of<3>(bytes)};
      for (int t = 0; t < kTogether; ++t, weights += table.padded)
        sum = _mm512_add_ps(sum, _mm512_mul_ps(parts[t], _mm512_loadu_ps(weights)));
    }
    _mm512_storeu_ps(target + x, sum);
  }
}

#else

void prepare(AreaTable&) {}

void across(float* target, const uint8_t* row, const AreaTable& table, float* levels) {
  across_by_loops(target, row, table, levels);
}

#endif

void down(float* __restrict sums, const float* __restrict row, float weight, int columns,
          bool is_first) {
  if (is_first)
    for (int x = 0; x < columns; ++x) sums[x] = row[x] * weight;
  else
    for (int x = 0; x < columns; ++x) sums[x] += row[x] * weight;
}

/// The nearest whole number of 0 to 255, halves to the even one: beyond 2^23, floats have no
/// halves.
inline uint8_t nearest(float value) {
  const float shifted = value + 12582912.0f;
  int32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  return static_cast<uint8_t>(bits);
}

void finish(uint8_t* __restrict target, const float* __restrict sums, AreaEnd end, float factor,
            int columns) {
  if (end == AreaEnd::mean_of_four)
    for (int x = 0; x < columns; ++x)
      target[x] = static_cast<uint8_t>((static_cast<int>(sums[x]) + 2) >> 2);
  else
    for (int x = 0; x < columns; ++x) target[x] = nearest(sums[x] * factor);
}

}  // namespace

const AreaRows opencv_area_rows{prepare, across, down, finish};

}  // namespace penstock::PENSTOCK_ISA
