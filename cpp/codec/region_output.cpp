#include "codec/region_output.h"

#include <algorithm>

#include "codec/reconstruct/upsample.h"

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

RegionOutput::RegionOutput(RowSink& sink, const Frame& frame, const Region& region,
                           const Outline& wanted, bool is_ycbcr, RegionBuffers& buffers)
    : sink_(sink),
      frame_(frame),
      region_(region),
      wanted_(wanted),
      is_ycbcr_(is_ycbcr),
      rgb_row_(PENSTOCK_PICK(rgb_row)),
      buffers_(buffers),
      next_row_(region.top) {
  if (frame.components == 3) begin_bands();
}

void RegionOutput::begin_bands() {
  const size_t upsampled_bytes = region_.width + kUpsampleSlack;
  upsampled_.blue = buffers_.upsampled.reserve<int8_t>(2 * upsampled_bytes);
  upsampled_.red = upsampled_.blue + upsampled_bytes;
  band_.stride = (region_.width + kRowSlack - 1) / kRowSlack * kRowSlack + kRowSlack;
  band_.width = region_.width;
  band_.channels = 3;
  uint8_t* plane = buffers_.band.reserve(3 * kBandRows * band_.stride);
  for (uint8_t*& channel : band_.plane) {
    channel = plane;
    plane += kBandRows * band_.stride;
  }
}

void RegionOutput::begin_component(int c, int strip_rows, int blocks, int top, int left) {
  const FrameComponent& size = frame_.component[c];
  SamplePlane samples;
  samples.height = size.height;
  samples.width = size.width;
  samples.vertical_ratio = size.vertical_ratio;
  samples.horizontal_ratio = size.horizontal_ratio;
  window_[c].begin(buffers_.planes[c], samples, strip_rows, blocks, size.block_width, top, left);
}

void RegionOutput::finish_strip(int end_row) {
  emit(end_row);
  for (int c = 0; c < frame_.components; ++c) {
    const SamplePlane& samples = window_[c].samples();
    const int context = samples.vertical_ratio > 1 ? 1 : 0;
    const int first_kept = (next_row_ - context) / samples.vertical_ratio;
    window_[c].advance(std::max(first_kept, samples.top));
  }
}

/// Sends what is complete above `end_row`, in whole bands unless the region ends there.
void RegionOutput::emit(int end_row) {
  const int bottom = region_.top + region_.height;
  if (end_row < bottom) end_row -= std::max(0, end_row - next_row_) % kBandRows;
  end_row = std::min(end_row, bottom);
  if (end_row <= next_row_) return;
  if (frame_.components == 1)
    emit_gray(end_row);
  else
    emit_colour(end_row);
  next_row_ = end_row;
}

void RegionOutput::emit_gray(int end_row) {
  const SamplePlane& samples = window_[0].samples();
  PlanarView rows;
  rows.plane[0] =
      samples.origin + (next_row_ - samples.top) * samples.stride + (region_.left - samples.left);
  rows.stride = samples.stride;
  rows.height = end_row - next_row_;
  rows.width = region_.width;
  rows.channels = 1;
  sink_.take(rows, next_row_ - region_.top);
}

void RegionOutput::emit_colour(int end_row) {
  const SamplePlane chroma[2] = {window_[1].samples(), window_[2].samples()};
  for (int top = next_row_; top < end_row; top += kBandRows) {
    band_.height = std::min(kBandRows, end_row - top);
    const int first = top - region_.top;
    const auto [begin, end] = wanted_.needed(first, first + band_.height, 0, region_.width);
    for (int y = 0; y < band_.height && begin < end; ++y) {
      if (is_ycbcr_)
        rgb_row_(band_.row(0, y) + begin, band_.row(1, y) + begin, band_.row(2, y) + begin,
                 window_[0].samples(), chroma, top + y, region_.left + begin, region_.left + end,
                 upsampled_);
      else
        rgb_row(y, top + y);
    }
    sink_.take(band_.view(), first);
  }
}

/// Image row y of components that are red, green and blue already.
void RegionOutput::rgb_row(int row_of_band, int y) {
  for (int c = 0; c < 3; ++c) {
    const SamplePlane& samples = window_[c].samples();
    auto* target = reinterpret_cast<int8_t*>(band_.row(c, row_of_band));
    upsample_row(target, samples, upsampling_of(samples), y, region_.left,
                 region_.left + region_.width);
    if (c == 0) continue;  // the others are centred, as chroma is
    for (int x = 0; x < region_.width; ++x) target[x] = static_cast<int8_t>(target[x] ^ 0x80);
  }
}

}  // namespace penstock
