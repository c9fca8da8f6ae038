#include <immintrin.h>

#include "kernels/colour/mix_channel.h"

namespace penstock::avx2 {
namespace {

constexpr int kVectors = 4;
constexpr int kLanes = 8;

__m256 weighted(const uint8_t* levels, __m256 weight) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(levels));
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)), weight);
}

/// Negative numbers, and NaN, are left to the saturation of what packs them.
__m256i cut_off(__m256 sum) {
  return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_set1_ps(255.0f), sum));
}

void store_levels(uint8_t* to, const __m256 (&sums)[kVectors]) {
  const __m256i packed =
      _mm256_packus_epi16(_mm256_packs_epi32(cut_off(sums[0]), cut_off(sums[1])),
                          _mm256_packs_epi32(cut_off(sums[2]), cut_off(sums[3])));
  // Four bytes of each vector lie in both halves.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(packed, order));
}

}  // namespace

void mix_channel(const PlanarTarget& out, const MixPart* parts, int count, int channel) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; x += kVectors * kLanes) {
      __m256 sums[kVectors];
      const uint8_t* levels = row_of(parts[0], channel, y) + x;
      __m256 weight = _mm256_set1_ps(parts[0].weight);
      for (int v = 0; v < kVectors; ++v) sums[v] = weighted(levels + v * kLanes, weight);
      for (int i = 1; i < count; ++i) {
        levels = row_of(parts[i], channel, y) + x;
        weight = _mm256_set1_ps(parts[i].weight);
        for (int v = 0; v < kVectors; ++v)
          sums[v] = _mm256_add_ps(sums[v], weighted(levels + v * kLanes, weight));
      }
      store_levels(out.row(channel, y) + x, sums);
    }
}

}  // namespace penstock::avx2
