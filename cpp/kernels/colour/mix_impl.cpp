// The loop of mix.h, for AVX2 and AVX-512.
#include "base/x86_vectors.h"
#include "kernels/colour/mix.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kVectors = 4;
constexpr int kLanes = kVectorFloats;

Floats weighted(const uint8_t* levels, Floats weight) {
  return MM(mul_ps)(load_levels(levels), weight);
}

/// Negative numbers, and NaN, are left to the saturation of what packs them.
Vector cut_off(Floats sum) { return MM(cvttps_epi32)(MM(min_ps)(MM(set1_ps)(255.0f), sum)); }

void store_levels(uint8_t* to, const Floats (&sums)[kVectors]) {
  const Vector packed = MM(packus_epi16)(MM(packs_epi32)(cut_off(sums[0]), cut_off(sums[1])),
                                         MM(packs_epi32)(cut_off(sums[2]), cut_off(sums[3])));
  // Four bytes of each vector lie in every 128 bits.
#if defined(PENSTOCK_ISA_AVX512)
  const Vector order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  store(to, _mm512_permutexvar_epi32(order, packed));
#else
  const Vector order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  store(to, _mm256_permutevar8x32_epi32(packed, order));
#endif
}

/// The first kUsed vectors of a block.
template <int kUsed>
void mix_block(uint8_t* out, const MixPart* parts, int count, int channel, int y, int x) {
  Floats sums[kVectors] = {};
  const uint8_t* levels = parts[0].row(channel, y) + x;
  Floats weight = MM(set1_ps)(parts[0].weight);
  for (int v = 0; v < kUsed; ++v) sums[v] = weighted(levels + v * kLanes, weight);
  for (int i = 1; i < count; ++i) {
    levels = parts[i].row(channel, y) + x;
    weight = MM(set1_ps)(parts[i].weight);
    for (int v = 0; v < kUsed; ++v)
      sums[v] = MM(add_ps)(sums[v], weighted(levels + v * kLanes, weight));
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

}  // namespace penstock::PENSTOCK_ISA
