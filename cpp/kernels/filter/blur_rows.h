// The two passes of a blur, a row at a time.
#pragma once

#include <cstdint>

namespace penstock {

/// Rows of floats are done in whole blocks of this many, so they need room for them.
inline constexpr int kBlurBlock = 64;

/// Both kernels are symmetric: weight[0] is for the middle, weight[i] for both that are i away.
struct BlurRows {
  /// out[x] = the weighted sum of in[x - reach .. x + reach].
  void (*across)(float* out, const float* in, const float* weight, int reach, int width);
  /// out[x] = the weighted sum of rows[0 .. 2 * reach][x], rounded to a level.
  void (*down)(uint8_t* out, const float* const* rows, const float* weight, int reach, int width);
  /// The same, as it is.
  void (*down_to_floats)(float* out, const float* const* rows, const float* weight, int reach,
                         int width);
  void (*widen)(float* out, const uint8_t* in, int width);
};

const BlurRows& blur_rows_scalar();
#if defined(__x86_64__)
const BlurRows& blur_rows_avx2();
const BlurRows& blur_rows_avx512();
#endif

/// The variant in use; see base/cpu.h.
const BlurRows& blur_rows();

}  // namespace penstock
