// Planes of floats in another size, with antialiasing, as torch resizes them.
//
// torch computes weights in single precision but for one step, and sums up the products in a
// particular order: see resize_sums_impl.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/dispatch.h"
#include "kernels/resample.h"

namespace penstock {

/// Where the values of a plane lie; strides are in elements.
struct PlaneSource {
  const float* data = nullptr;
  int height = 0;
  int width = 0;
  ptrdiff_t row_stride = 0;
  ptrdiff_t pixel_stride = 1;
};

/// For each output along an axis: its first sample, how many samples there are, and their weights.
struct AxisWeights {
  const int32_t* first = nullptr;
  const int32_t* count = nullptr;
  const float* weight = nullptr;  // most of them for each output
  int most = 0;
  int outputs = 0;
};

/// Memory to be used again for the next image.
struct FloatResizeScratch {
  Buffer places[2];
  Buffer weights[2];
  Buffer turned;
  Buffer turned_result;
  Buffer rows;
};

/// Prepares for planes of in_height x in_width, and resizes them one by one. The filter is bilinear
/// or bicubic.
class FloatResize {
 public:
  FloatResize(int in_height, int in_width, int out_height, int out_width, Filter filter,
              FloatResizeScratch& scratch);

  /// Writes out_height x out_width values without gaps.
  void run(float* target, const PlaneSource& source) const;

 private:
  AxisWeights across_;
  AxisWeights down_;
  FloatResizeScratch& scratch_;
};

/// Rows go through the first pass in groups, column by column: sample x of row r is at
/// x * kTurnedRows + r.
inline constexpr int kTurnedRows = 16;

/// Sums up each output of a group of rows.
PENSTOCK_VARIANTS(void sum_across(float* target, const float* source, const AxisWeights& weights))

/// Output `y` from whole rows of `width` values.
PENSTOCK_VARIANTS(void sum_down(float* target, const float* rows, int width,
                                const AxisWeights& weights, int y))

/// Puts up to kTurnedRows rows into a group, and takes some out again.
PENSTOCK_VARIANTS(void turn_rows(float* target, const PlaneSource& rows, int count))
PENSTOCK_VARIANTS(void turn_back(float* target, const float* source, int width, int count))

}  // namespace penstock
