// OpenCV's bilinear resize of bytes, a row at a time: one variant per instruction set.
//
// Across, two samples with weights in units of 1 / 2048 are added up, and four bits of the sum are
// dropped. Down, two such rows are multiplied by weights of the same kind, each product loses its
// lower half, and the sum is rounded. Every step is on whole numbers, so all variants agree.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/dispatch.h"

namespace penstock {

/// Rows of outputs are worked on, and kept, up to the next multiple of this many columns.
inline constexpr int kOpencvStep = 32;

/// Weights of a pair of samples, as the two halves of 32 bits.
struct PairWeights {
  int16_t first;
  int16_t second;
};

/// Where the pairs of a row's outputs lie, counted from the first sample that any of them needs.
/// There are round_up(count, kOpencvStep) of each, those past the end with weights of 0.
struct PairTable {
  int count = 0;
  int samples = 0;           // of a row, that is, of the span that all pairs lie in
  Buffer starts;             // int32_t
  Buffer weights;            // PairWeights
  Buffer prepared;           // whatever else a variant wants
  bool is_prepared = false;  // whether it has that
};

struct OpencvRows {
  /// Sets `prepared` from all the rest.
  void (*prepare)(PairTable& table);

  /// Resizes one row, of which kRowSlack bytes past the end are readable.
  void (*across)(int16_t* target, const uint8_t* row, const PairTable& table);

  /// Mixes two such rows of `columns`, a multiple of kOpencvStep.
  void (*down)(uint8_t* target, const int16_t* upper, const int16_t* lower, PairWeights weights,
               int columns);
};

PENSTOCK_VARIANTS(extern const OpencvRows opencv_rows)

}  // namespace penstock
