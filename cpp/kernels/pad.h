// Padding as torchvision's pad on Pillow images: constant, edge, reflect, symmetric.
#pragma once

#include "base/image.h"

namespace penstock {

enum class PadMode : int32_t { constant = 0, edge = 1, reflect = 2, symmetric = 3 };

/// From outside the source, under a constant border.
inline constexpr int kPadOutside = -1;

/// The source sample behind position `p` of an axis of `size` samples; p < 0 and p >= size are the
/// border.
int padded_source(int p, int size, PadMode mode);

struct PadSpec {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
  PadMode mode = PadMode::constant;
  uint8_t fill[3] = {};
};

/// Writes `window` of the padded image to `target` (of the window's size).
/// A gray source becomes three channels if the target has three.
/// Requires a source of at least 1x1, amounts that are not negative and a window inside the padded
/// image; reflect and symmetric may pad by any amount, as numpy.pad does.
void pad(const PlanarTarget& target, const PlanarView& source, const PadSpec& spec,
         const Region& window);

}  // namespace penstock
