// Pillow's coefficients, eight outputs at a time.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "kernels/resample.h"

namespace penstock {

inline constexpr int kBlockOutputs = 8;

/// Neighbouring outputs: where each one's centre and list of samples lie.
struct OutputBlock {
  double center[kBlockOutputs];
  int32_t begin[kBlockOutputs];
  int32_t length[kBlockOutputs];
};

/// Sets fixed[t * kBlockOutputs + i] to coefficient t of output i, for t < longest, the longest
/// length of the block; past an output's own length it is 0.
/// `weights` is scratch of the same size.
using ComputeBlock = void (*)(int32_t* fixed, double* weights, const OutputBlock& block,
                              int longest, double inverse_filter_scale);

PENSTOCK_VARIANTS(ComputeBlock compute_block_for(Filter filter))

}  // namespace penstock
