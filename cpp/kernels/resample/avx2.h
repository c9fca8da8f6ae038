// What the AVX2 tables and passes agree on.
//
// A coefficient is split as K = low + 2^15 high, low balanced around 0, so that both fit vpmaddwd,
// and a quad of samples into its even and its odd ones, which takes a mask and a shift only. Sums
// may wrap around modulo 2^32 on the way, but the total is Pillow's, which does not overflow.
#pragma once

#include "kernels/resample/row_kernels.h"

namespace penstock::avx2 {

inline constexpr int kLanes = 8;
inline constexpr int kLowBits = 15;
inline constexpr int kVectorBytes = 32;

/// A quad's factors: pairs of 16-bit numbers for the samples 0 and 2, and 1 and 3.
struct Factors {
  int32_t low_even;
  int32_t low_odd;
  int32_t high_even;
  int32_t high_odd;
};

/// The factors of eight outputs.
struct VectorFactors {
  int32_t low_even[kLanes];
  int32_t low_odd[kLanes];
  int32_t high_even[kLanes];
  int32_t high_odd[kLanes];
};

/// How the samples of eight outputs are fetched: from 16 or 32 bytes for each four, or one by one.
enum Fetch { from_16, from_32, gathered };

/// Sets bases (two int32 per vector, one for each four outputs), indices (a vector of byte indices
/// per vector, or of 32-bit offsets if gathered) and factors (VectorFactors per vector and quad).
void prepare_columns(ColumnTable& table, const Taps& taps);

/// Sets factors: Factors per output and quad.
void prepare_rows(RowTable& table, const Taps& taps);

}  // namespace penstock::avx2
