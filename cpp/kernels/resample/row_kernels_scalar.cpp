// The reference: Pillow's sums, one sample at a time.
#include <algorithm>

#include "kernels/resample/row_kernels.h"

namespace penstock::scalar {
namespace {

// Unsigned, because sums of padded lists wrap around where Pillow's own do not overflow.
constexpr uint32_t kHalf = 1u << (kCoefficientBits - 1);

uint8_t round_and_clip(uint32_t sum) {
  const int32_t level = static_cast<int32_t>(sum) >> kCoefficientBits;
  return static_cast<uint8_t>(std::clamp(level, 0, 255));
}

void prepare_columns(ColumnTable& table, const Taps& taps) { table.taps = taps; }

void prepare_rows(RowTable& table, const Taps& taps) { table.taps = taps; }

void horizontal(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table) {
  const Taps& taps = table.taps;
  for (int x = 0; x < taps.count; ++x) {
    const int32_t* factor = taps.coefficient + static_cast<size_t>(x) * taps.stride;
    for (int r = 0; r < kQuad; ++r) {
      const uint8_t* sample = rows[r] + taps.start[x];
      uint32_t sum = kHalf;
      for (int i = 0; i < taps.stride; ++i) sum += sample[i] * static_cast<uint32_t>(factor[i]);
      group[x * kQuad + r] = round_and_clip(sum);
    }
  }
}

void vertical(uint8_t* row, const uint8_t* const* groups, const RowTable& table, int output,
              int columns) {
  const Taps& taps = table.taps;
  const int32_t* factor = taps.coefficient + static_cast<size_t>(output) * taps.stride;
  for (int x = 0; x < columns; ++x) {
    uint32_t sum = kHalf;
    for (int q = 0; q < taps.quads[output]; ++q)
      for (int r = 0; r < kQuad; ++r)
        sum += groups[q][x * kQuad + r] * static_cast<uint32_t>(factor[q * kQuad + r]);
    row[x] = round_and_clip(sum);
  }
}

void weave(uint8_t* group, const uint8_t* const rows[kQuad], int columns) {
  for (int x = 0; x < columns; ++x)
    for (int r = 0; r < kQuad; ++r) group[x * kQuad + r] = rows[r][x];
}

void unweave(uint8_t* const rows[kQuad], const uint8_t* group, int columns) {
  for (int x = 0; x < columns; ++x)
    for (int r = 0; r < kQuad; ++r) rows[r][x] = group[x * kQuad + r];
}

}  // namespace

const RowKernels row_kernels{prepare_columns, prepare_rows, horizontal, vertical, weave, unweave};

}  // namespace penstock::scalar
