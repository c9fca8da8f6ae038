// What the AVX-512 tables and passes agree on.
//
// A coefficient is split into three balanced base-256 digits, K = a + 256 b + 65536 c, each of
// which fits the signed side of vpdpbusd; c does because no coefficient reaches 2. Sums may wrap
// around modulo 2^32 on the way, but the total is Pillow's, which does not overflow.
#pragma once

#include <cstddef>

#include "kernels/resample/row_kernels.h"

namespace penstock::avx512 {

inline constexpr int kLanes = 16;
inline constexpr int kDigits = 3;
inline constexpr int kVectorBytes = 64;

/// How the samples of sixteen outputs are fetched: from 64, 128 or 256 bytes in registers, or one
/// output at a time.
enum Fetch { from_64, from_128, from_256, gathered };

/// Sets bases (int32 per vector), indices (a vector of byte indices per vector, or of 32-bit
/// offsets if gathered) and factors (for each vector and quad: the vectors of digits a, b, c).
void prepare_columns(ColumnTable& table, const Taps& taps);

/// Sets factors: 32-bit words of four digits at `row_factor`.
void prepare_rows(RowTable& table, const Taps& taps);

/// Index of digit 0 of the n-th quad, counted over all outputs; the other digits follow at a
/// distance of kQuad. Four quads are stored together.
inline size_t row_factor(size_t n) { return n / kQuad * (kQuad * kDigits) + n % kQuad; }

}  // namespace penstock::avx512
