#include "kernels/filter/box_blur.h"

namespace penstock::scalar {
namespace {

uint16_t mean_of(uint32_t inside, uint32_t ends, const BoxWeights& weights) {
  const uint32_t weighted = inside * weights.inside + ends * weights.ends;
  return static_cast<uint16_t>((weighted + (1u << 23)) >> 24);
}

void mean(uint16_t* out, const uint16_t* const* taps, const BoxWeights& weights, int width) {
  const int last = 2 * weights.radius + 2;
  for (int x = 0; x < width; ++x) {
    uint32_t sum = 0;
    for (int i = 1; i < last; ++i) sum += taps[i][x];
    out[x] = mean_of(sum, taps[0][x] + taps[last][x], weights);
  }
}

void mean_of_sums(uint16_t* out, const uint16_t* sums, const uint16_t* first, const uint16_t* last,
                  const BoxWeights& weights, int width) {
  for (int x = 0; x < width; ++x) out[x] = mean_of(sums[x], first[x] + last[x], weights);
}

void slide(uint16_t* sums, const uint16_t* add, const uint16_t* remove, int width) {
  for (int x = 0; x < width; ++x) sums[x] = static_cast<uint16_t>(sums[x] + add[x] - remove[x]);
}

void widen(uint16_t* out, const uint8_t* in, int width) {
  for (int x = 0; x < width; ++x) out[x] = in[x];
}

void narrow(uint8_t* out, const uint16_t* in, int width) {
  for (int x = 0; x < width; ++x) out[x] = static_cast<uint8_t>(in[x]);
}

}  // namespace

const BoxRows box_rows = {mean, mean_of_sums, slide, widen, narrow};

}  // namespace penstock::scalar
