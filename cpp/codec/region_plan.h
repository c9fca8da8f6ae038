// Which units of a JPEG a region of its pixels depends on.
#pragma once

#include "base/image.h"
#include "codec/frame.h"

namespace penstock {

struct RegionPlan {
  int units_across = 0;  // of the whole image
  int first_unit_row = 0;
  int end_unit_row = 0;
  int first_unit_column = 0;
  int end_unit_column = 0;
  int rows_below = 0;  // that must be decoded before a row of pixels is complete

  int stored_units() const { return end_unit_column - first_unit_column; }
};

/// Requires a region inside the frame.
RegionPlan plan_region(const Frame& frame, const Region& region);

}  // namespace penstock
