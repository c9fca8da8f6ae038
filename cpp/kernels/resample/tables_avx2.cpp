#include <algorithm>
#include <utility>

#include "kernels/resample/avx2.h"

namespace penstock::avx2 {
namespace {

constexpr int kHalfVector = kLanes / 2;

struct Split {
  int32_t low;
  int32_t high;
};

Split split(int32_t coefficient) {
  constexpr int32_t kOne = 1 << kLowBits;
  const int32_t high = (coefficient + kOne / 2) >> kLowBits;
  return {coefficient - high * kOne, high};
}

int32_t pair_of(int32_t first, int32_t second) {
  return static_cast<int32_t>((static_cast<uint32_t>(second) << 16) |
                              (static_cast<uint32_t>(first) & 0xFFFF));
}

Factors factors_of(const int32_t* quad) {
  const Split k[kQuad] = {split(quad[0]), split(quad[1]), split(quad[2]), split(quad[3])};
  return {pair_of(k[0].low, k[2].low), pair_of(k[1].low, k[3].low), pair_of(k[0].high, k[2].high),
          pair_of(k[1].high, k[3].high)};
}

// Starts only grow, or only shrink if mirrored.
std::pair<int, int> lowest_and_highest(const Taps& taps, int x) {
  const int last = std::min(x + kHalfVector, taps.count) - 1;
  return std::minmax(taps.start[x], taps.start[last]);
}

// A half vector reads 16 or 32 bytes from its lowest start on, for each quad. Lists never need
// samples more than kQuad - 1 past the row, so that stays well within kRowSlack.
int fetch_for(const Taps& taps) {
  int widest = 0;
  for (int x = 0; x < taps.count; x += kHalfVector) {
    const auto [lowest, highest] = lowest_and_highest(taps, x);
    widest = std::max(widest, highest + kQuad - lowest);
  }
  return widest <= 16 ? from_16 : widest <= 32 ? from_32 : gathered;
}

}  // namespace

void prepare_columns(ColumnTable& table, const Taps& taps) {
  table.taps = taps;
  table.fetch = fetch_for(taps);
  const size_t vectors = (taps.count + kLanes - 1) / kLanes;
  int32_t* bases = table.bases.reserve<int32_t>(2 * vectors);
  uint32_t* indices = table.indices.reserve<uint32_t>(vectors * kLanes);
  VectorFactors* factors = table.factors.reserve<VectorFactors>(vectors * taps.max_quads);

  for (size_t v = 0; v < vectors; ++v) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int x = static_cast<int>(v) * kLanes + lane;
      int32_t& base = bases[2 * v + lane / kHalfVector];
      if (lane % kHalfVector == 0)
        base = table.fetch == gathered || x >= taps.count ? 0 : lowest_and_highest(taps, x).first;
      const uint32_t offset = x < taps.count ? taps.start[x] - base : 0;
      indices[x] = table.fetch == gathered ? offset : offset * 0x01010101 + 0x03020100;
      for (int q = 0; q < taps.max_quads; ++q) {
        const Factors f =
            x < taps.count
                ? factors_of(taps.coefficient + static_cast<size_t>(x) * taps.stride + q * kQuad)
                : Factors{};
        VectorFactors& vector = factors[v * taps.max_quads + q];
        vector.low_even[lane] = f.low_even;
        vector.low_odd[lane] = f.low_odd;
        vector.high_even[lane] = f.high_even;
        vector.high_odd[lane] = f.high_odd;
      }
    }
  }
}

void prepare_rows(RowTable& table, const Taps& taps) {
  table.taps = taps;
  const size_t quads = static_cast<size_t>(taps.count) * taps.max_quads;
  Factors* factors = table.factors.reserve<Factors>(quads);
  for (size_t q = 0; q < quads; ++q) factors[q] = factors_of(taps.coefficient + q * kQuad);
}

}  // namespace penstock::avx2
