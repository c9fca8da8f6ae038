// torch's compiler made its loop over the samples of an output into one that takes four at a time:
// the first product stands alone, those of whole fours are rounded before they are added, and the
// rest is added in one rounding each.
#include "kernels/tensor/resize.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kTogether = 4;

/// The last of the samples whose products are rounded.
inline int rounded_until(int count) { return (count - 1) / kTogether * kTogether; }

using Four = float __attribute__((vector_size(16)));

inline Four load_four(const float* from) {
  Four four;
  __builtin_memcpy(&four, from, sizeof four);
  return four;
}

inline void store_four(float* to, Four four) { __builtin_memcpy(to, &four, sizeof four); }

inline Four low_of(Four a, Four b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Four high_of(Four a, Four b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }

inline void transpose_block(float* to, ptrdiff_t to_stride, const float* from,
                            ptrdiff_t from_stride) {
  const Four a = load_four(from), b = load_four(from + from_stride);
  const Four c = load_four(from + 2 * from_stride), d = load_four(from + 3 * from_stride);
  const Four ac = low_of(a, c), bd = low_of(b, d);
  const Four ac_end = high_of(a, c), bd_end = high_of(b, d);
  store_four(to, low_of(ac, bd));
  store_four(to + to_stride, high_of(ac, bd));
  store_four(to + 2 * to_stride, low_of(ac_end, bd_end));
  store_four(to + 3 * to_stride, high_of(ac_end, bd_end));
}

/// to[x * to_stride + y] = from[y * from_stride + x], for `rows` rows of `columns` values.
void transpose(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, int rows,
               int columns) {
  int y = 0;
  for (; y + 4 <= rows; y += 4) {
    int x = 0;
    for (; x + 4 <= columns; x += 4)
      transpose_block(to + x * to_stride + y, to_stride, from + y * from_stride + x, from_stride);
    for (; x < columns; ++x)
      for (int i = 0; i < 4; ++i) to[x * to_stride + y + i] = from[(y + i) * from_stride + x];
  }
  for (; y < rows; ++y)
    for (int x = 0; x < columns; ++x) to[x * to_stride + y] = from[y * from_stride + x];
}

}  // namespace

void sum_across(float* target, const float* source, const AxisWeights& weights) {
  for (int x = 0; x < weights.outputs; ++x, target += kTurnedRows) {
    const float* from = source + static_cast<ptrdiff_t>(weights.first[x]) * kTurnedRows;
    const float* weight = weights.weight + static_cast<ptrdiff_t>(x) * weights.most;
    const int count = weights.count[x], rounded = rounded_until(count);
    float sum[kTurnedRows];
    for (int r = 0; r < kTurnedRows; ++r) sum[r] = from[r] * weight[0];
    int i = 1;
    for (; i <= rounded; ++i) {
      from += kTurnedRows;
      for (int r = 0; r < kTurnedRows; ++r) sum[r] += from[r] * weight[i];
    }
    for (; i < count; ++i) {
      from += kTurnedRows;
      for (int r = 0; r < kTurnedRows; ++r) sum[r] = __builtin_fmaf(from[r], weight[i], sum[r]);
    }
    for (int r = 0; r < kTurnedRows; ++r) target[r] = sum[r];
  }
}

void sum_down(float* target, const float* rows, int width, const AxisWeights& weights, int y) {
  const float* from = rows + static_cast<ptrdiff_t>(weights.first[y]) * width;
  const float* weight = weights.weight + static_cast<ptrdiff_t>(y) * weights.most;
  const int count = weights.count[y], rounded = rounded_until(count);
  float* __restrict to = target;
  for (int x = 0; x < width; ++x) to[x] = from[x] * weight[0];
  int i = 1;
  for (; i <= rounded; ++i) {
    from += width;
    for (int x = 0; x < width; ++x) to[x] += from[x] * weight[i];
  }
  for (; i < count; ++i) {
    from += width;
    for (int x = 0; x < width; ++x) to[x] = __builtin_fmaf(from[x], weight[i], to[x]);
  }
}

void turn_rows(float* target, const PlaneSource& rows, int count) {
  if (rows.pixel_stride == 1) {
    transpose(target, kTurnedRows, rows.data, rows.row_stride, count, rows.width);
    return;
  }
  for (int r = 0; r < count; ++r)
    for (int x = 0; x < rows.width; ++x)
      target[x * kTurnedRows + r] = rows.data[r * rows.row_stride + x * rows.pixel_stride];
}

void turn_back(float* target, const float* source, int width, int count) {
  transpose(target, width, source, kTurnedRows, width, count);
}

}  // namespace penstock::PENSTOCK_ISA
