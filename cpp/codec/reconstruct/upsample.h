// Which of libjpeg's upsampling methods a chroma plane takes, and that method in plain C++.
#pragma once

#include "codec/reconstruct.h"

namespace penstock {

enum class Upsampling {
  none,
  fancy_h2v1,  // triangle filters: 3/4 of the nearer sample, 1/4 of the farther one
  fancy_h1v2,
  fancy_h2v2,
  box,
};

/// libjpeg's choice; fancy horizontal filters need more than two columns.
Upsampling upsampling_of(const SamplePlane& plane);

/// The chroma rows that image row y lies between. Index 0 is the first column in memory.
struct ChromaRows {
  const int8_t* near;
  const int8_t* far;  // the same row where the method does not look vertically
  bool far_is_below;
};

ChromaRows chroma_rows(const SamplePlane& plane, Upsampling method, int y);

// Halves are rounded up and down at alternate pixels; see the fancy methods in libjpeg's
// jdsample.c.
inline constexpr int kH2v1BiasLeft = 1, kH2v1BiasRight = 2;
inline constexpr int kH1v2BiasAbove = 1, kH1v2BiasBelow = 2;
inline constexpr int kH2v2BiasLeft = 8, kH2v2BiasRight = 7;

/// Chroma of image row y, columns [left, right), sample by sample.
void upsample_row(int8_t* target, const SamplePlane& plane, Upsampling method, int y, int left,
                  int right);

/// Triangle filters for `count` chroma columns from index `first` of the rows on, in groups of up
/// to 64 columns. They replicate nothing at the component's edges but filter what lies beside them.
struct FancyFilters {
  using Filter = void (*)(int8_t* target, const ChromaRows& rows, int first, int count);
  Filter h2v1;
  Filter h1v2;
  Filter h2v2;
};

/// The same chroma by vector code, in the plane itself or in `scratch` (as large as UpsampleRow's).
const int8_t* upsample_row_with(const FancyFilters& filters, int8_t* scratch,
                                const SamplePlane& plane, int y, int left, int right);

}  // namespace penstock
