// OpenCV's resize by areas, a row at a time: one variant per instruction set.
//
// Samples are floats from the first to the last step, and each sum is taken in the order of its
// samples, rounded after every product and every sum. So all variants agree. A weight of 0 stands
// for no sample at all: it adds nothing to a sum.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/dispatch.h"

namespace penstock {

/// Rows of outputs are worked on, and kept, up to the next multiple of this many columns.
inline constexpr int kAreaStep = 16;

/// The samples of a row's outputs: output x has `taps` of them from starts[x] on, of which tap j
/// counts weights[j * padded + x]. There are `padded` of each, those past the end with weights of
/// 0.
struct AreaTable {
  int padded = 0;
  int samples = 0;  // of a row, that is, of the span that all taps lie in
  int taps = 0;
  Buffer starts;             // int32_t
  Buffer weights;            // float
  Buffer prepared;           // whatever else a variant wants
  bool is_prepared = false;  // whether it has that
};

/// How sums become levels: rounded to the nearest, halves to the even one; or as the mean of a
/// whole number of samples, which is a product with `factor`; or as that of four, halves upwards.
enum class AreaEnd { weighted, mean, mean_of_four };

struct AreaRows {
  /// Sets `prepared` from all the rest.
  void (*prepare)(AreaTable& table);

  /// Resizes one row, of which kRowSlack bytes past the end are readable. `levels` is memory for
  /// samples + taps floats, of which the last are 0.
  void (*across)(float* target, const uint8_t* row, const AreaTable& table, float* levels);

  /// Puts a row times its weight into the sums, or adds it.
  void (*down)(float* sums, const float* row, float weight, int columns, bool is_first);

  /// Makes levels of sums.
  void (*finish)(uint8_t* target, const float* sums, AreaEnd end, float factor, int columns);
};

PENSTOCK_VARIANTS(extern const AreaRows opencv_area_rows)

}  // namespace penstock
