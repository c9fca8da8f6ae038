#include "codec/region_plan.h"

#include <algorithm>

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

RegionPlan plan_region(const Frame& frame, const Region& region) {
  // Upsampling looks at one chroma sample more on every side.
  int margin_x = 0;
  int margin_y = 0;
  for (int c = 0; c < frame.components; ++c) {
    const FrameComponent& component = frame.component[c];
    if (component.horizontal_ratio > 1) margin_x = std::max(margin_x, component.horizontal_ratio);
    if (component.vertical_ratio > 1) margin_y = 1;
  }
  RegionPlan plan;
  plan.units_across = divide_up(frame.width, frame.unit_width);
  plan.rows_below = margin_y;
  plan.first_unit_row = std::max(0, region.top - margin_y) / frame.unit_height;
  plan.first_unit_column = std::max(0, region.left - margin_x) / frame.unit_width;
  const int bottom = std::min(frame.height, region.top + region.height + margin_y);
  const int right = std::min(frame.width, region.left + region.width + margin_x);
  plan.end_unit_row = divide_up(bottom, frame.unit_height);
  plan.end_unit_column = divide_up(right, frame.unit_width);
  return plan;
}

}  // namespace penstock
