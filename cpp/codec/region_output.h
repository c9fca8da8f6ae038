// From rows of samples to the bands that a sink wants: what waits for more chroma, what is
// complete.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/buffer.h"
#include "base/image.h"
#include "base/outline.h"
#include "codec/frame.h"
#include "codec/reconstruct.h"

namespace penstock {

// Which units of a JPEG a region of its pixels depends on.

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

// The rows of one component that are in memory: those of the current unit row, and the few before
// it that pixels still wait for.

class PlaneWindow {
 public:
  /// Most rows that can wait: a band's rest, and one that waits for the next chroma row.
  static constexpr int kMaxKept = kBandRows;

  /// `samples` gives the component's size and ratios. Each unit row brings `unit_rows` rows of
  /// `blocks` blocks, `block_width` samples wide, of which the first starts at sample (top, left).
  void begin(Buffer& storage, const SamplePlane& samples, int unit_rows, int blocks,
             int block_width, int top, int left) {
    const int padded_blocks = (blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup;
    samples_ = samples;
    samples_.stride = padded_blocks * block_width + 2 * kRowSlack;
    samples_.top = top;
    samples_.left = left;
    unit_rows_ = unit_rows;
    uint8_t* rows = storage.reserve(samples_.stride * (kMaxKept + unit_rows) + 2 * kRowSlack);
    unit_ = rows + kRowSlack + kMaxKept * samples_.stride;
    samples_.origin = unit_;
  }

  /// Where the current unit row's samples are written.
  uint8_t* unit() const { return unit_; }
  const SamplePlane& samples() const { return samples_; }

  /// Makes room for the next unit row, keeping the rows from `first_kept` (a component row) on.
  void advance(int first_kept) {
    const int end =
        samples_.top + static_cast<int>((unit_ - samples_.origin) / samples_.stride) + unit_rows_;
    const int kept = end - first_kept;
    assert(kept >= 0 && kept <= kMaxKept && first_kept >= samples_.top);
    uint8_t* target = unit_ - kept * samples_.stride;
    const uint8_t* source = samples_.origin + (first_kept - samples_.top) * samples_.stride;
    std::memmove(target, source, kept * samples_.stride);
    samples_.origin = target;
    samples_.top = first_kept;
  }

 private:
  SamplePlane samples_;
  uint8_t* unit_ = nullptr;
  int unit_rows_ = 0;
};

/// A worker's recycled planes and bands.
struct RegionBuffers {
  Buffer planes[3];
  Buffer upsampled;
  Buffer band;
};

/// One region of one image, strip by strip from top to bottom. A strip is some rows of units: the
/// decoder writes its samples, component by component, and calls `finish_strip`.
class RegionOutput {
 public:
  /// Of the region, only what is `wanted`, in its pixels, has to be right. `is_ycbcr` is of no
  /// account for gray.
  RegionOutput(RowSink& sink, const Frame& frame, const Region& region, const Outline& wanted,
               bool is_ycbcr, RegionBuffers& buffers);

  /// Component `c` comes in strips of `strip_rows` rows of `blocks` blocks, the first of which
  /// starts at the component's sample (top, left).
  void begin_component(int c, int strip_rows, int blocks, int top, int left);

  /// Where the current strip's samples are written; rows have kRowSlack writable bytes more than
  /// their blocks need.
  uint8_t* strip(int c) const { return window_[c].unit(); }
  ptrdiff_t stride(int c) const { return window_[c].samples().stride; }

  /// Sends what is complete above image row `end_row`, in whole bands.
  void finish_strip(int end_row);
  /// Sends the rest of the region.
  void finish_last_strip() { emit(region_.top + region_.height); }

 private:
  void begin_bands();
  void emit(int end_row);
  void emit_gray(int end_row);
  void emit_colour(int end_row);
  void rgb_row(int row_of_band, int y);

  RowSink& sink_;
  const Frame frame_;
  const Region region_;
  const Outline wanted_;
  const bool is_ycbcr_;
  const RgbRow rgb_row_;
  RegionBuffers& buffers_;
  PlaneWindow window_[3];
  UpsampleRow upsampled_ = {};
  PlanarTarget band_;
  int next_row_;  // of the image, to be sent to the sink
};

}  // namespace penstock
