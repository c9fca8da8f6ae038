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

/// Chroma of image row y, columns [left, right).
void upsample_row(int8_t* target, const SamplePlane& plane, Upsampling method, int y, int left,
                  int right);

}  // namespace penstock
