#include "codec/region_plan.h"

#include <algorithm>

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

RegionPlan plan_region(const JpegHeader& header, const Region& region) {
  // Upsampling looks at one chroma sample more on every side.
  int margin_x = 0;
  int margin_y = 0;
  for (int c = 0; c < header.components; ++c) {
    const int ratio_x = header.max_horizontal / header.component[c].horizontal;
    const int ratio_y = header.max_vertical / header.component[c].vertical;
    if (ratio_x > 1) margin_x = std::max(margin_x, ratio_x);
    if (ratio_y > 1) margin_y = 1;
  }
  RegionPlan plan;
  plan.unit_height = 8 * header.max_vertical;
  plan.unit_width = 8 * header.max_horizontal;
  plan.units_across = divide_up(header.width, plan.unit_width);
  plan.rows_below = margin_y;
  plan.first_unit_row = std::max(0, region.top - margin_y) / plan.unit_height;
  plan.first_unit_column = std::max(0, region.left - margin_x) / plan.unit_width;
  const int bottom = std::min(header.height, region.top + region.height + margin_y);
  const int right = std::min(header.width, region.left + region.width + margin_x);
  plan.end_unit_row = divide_up(bottom, plan.unit_height);
  plan.end_unit_column = divide_up(right, plan.unit_width);
  return plan;
}

}  // namespace penstock
