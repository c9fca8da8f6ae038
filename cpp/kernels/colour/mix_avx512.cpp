#include <immintrin.h>

#include "kernels/colour/mix_channel.h"

namespace penstock::avx512 {
namespace {

constexpr int kVectors = 4;
constexpr int kLanes = 16;

__m512 weighted(const uint8_t* levels, __m512 weight) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels));
  return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)), weight);
}

/// Negative numbers, and NaN, are left to the saturation of what packs them.
__m512i cut_off(__m512 sum) {
  return _mm512_cvttps_epi32(_mm512_min_ps(_mm512_set1_ps(255.0f), sum));
}

void store_levels(uint8_t* to, const __m512 (&sums)[kVectors]) {
  const __m512i packed =
      _mm512_packus_epi16(_mm512_packs_epi32(cut_off(sums[0]), cut_off(sums[1])),
                          _mm512_packs_epi32(cut_off(sums[2]), cut_off(sums[3])));
  // Four bytes of each vector lie in every 128 bits.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, packed));
}

/// The first kUsed vectors of a block.
template <int kUsed>
void mix_block(uint8_t* out, const MixPart* parts, int count, int channel, int y, int x) {
  __m512 sums[kVectors] = {};
  const uint8_t* levels = row_of(parts[0], channel, y) + x;
  __m512 weight = _mm512_set1_ps(parts[0].weight);
  for (int v = 0; v < kUsed; ++v) sums[v] = weighted(levels + v * kLanes, weight);
  for (int i = 1; i < count; ++i) {
    levels = row_of(parts[i], channel, y) + x;
    weight = _mm512_set1_ps(parts[i].weight);
    for (int v = 0; v < kUsed; ++v)
      sums[v] = _mm512_add_ps(sums[v], weighted(levels + v * kLanes, weight));
  }
  store_levels(out, sums);
}

}  // namespace

void mix_channel(const PlanarTarget& out, const MixPart* parts, int count, int channel) {
  for (int y = 0; y < out.height; ++y) {
    uint8_t* const row = out.row(channel, y);
    int x = 0;
    for (; x + kVectors / 2 * kLanes < out.width; x += kVectors * kLanes)
      mix_block<kVectors>(row + x, parts, count, channel, y, x);
    if (x < out.width) mix_block<kVectors / 2>(row + x, parts, count, channel, y, x);
  }
}

}  // namespace penstock::avx512
