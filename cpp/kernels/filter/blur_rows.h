// The passes of a blur, a row at a time.
#pragma once

#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// Rows of floats are done in whole blocks of this many, so they need room for them.
inline constexpr int kBlurBlock = 64;

/// The whole kernel of a blur, and the rows of pixels it lies on.
struct BlurWindow {
  const float* weights;  // width * height of them, row by row
  /// For pixel x of row y, the kernel's row i lies on the pixels from rows[y + i] + x on.
  const float* const* rows;
  int width;
  int height;
};

struct BlurPlace {
  int32_t y;
  int32_t x;
};

/// Collects the places whose level is in doubt: where a sum is farther from it than is `sure`.
struct BlurDoubts {
  float sure_dark;    // for sums up to kBlurDark
  float sure_bright;  // not more than that, for sums above
  BlurPlace* places;  // with room for a block more than there are pixels
  int count;
};

inline constexpr float kBlurDark = 127;

/// Kernels of one direction are symmetric: weight[0] is for the middle, weight[i] for both that are
/// i away.
struct BlurRows {
  /// out[x] = the weighted sum of in[x - reach .. x + reach].
  void (*across)(float* out, const float* in, const float* weight, int reach, int width);
  /// out[x] = the weighted sum of rows[0 .. 2 * reach][x], rounded to a level; doubts are noted as
  /// being in row y.
  void (*down)(uint8_t* out, BlurDoubts& doubts, const float* const* rows, const float* weight,
               int reach, int width, int y);
  /// The same sum, as it is.
  void (*down_to_floats)(float* out, const float* const* rows, const float* weight, int reach,
                         int width);
  void (*widen)(float* out, const uint8_t* in, int width);

  /// out[x] = the sum of the window's pixels around pixel x of row y, each times its weight: row by
  /// row from the first, in fused multiply-adds, rounded to a level at the end.
  void (*whole)(uint8_t* out, const BlurWindow& window, int y, int width);
  /// The same at some places, out[i] for places[i].
  void (*at_places)(uint8_t* out, const BlurWindow& window, const BlurPlace* places, int count);
};

PENSTOCK_VARIANTS(extern const BlurRows blur_rows)

}  // namespace penstock
