// From rows of samples to the bands that a sink wants: what waits for more chroma, what is
// complete.
#pragma once

#include "base/buffer.h"
#include "base/image.h"
#include "codec/frame.h"
#include "codec/plane_window.h"
#include "codec/reconstruct.h"

namespace penstock {

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
  /// `is_ycbcr` is of no account for gray.
  RegionOutput(RowSink& sink, const Frame& frame, const Region& region, bool is_ycbcr,
               RegionBuffers& buffers);

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
  const bool is_ycbcr_;
  const RgbRow rgb_row_;
  RegionBuffers& buffers_;
  PlaneWindow window_[3];
  UpsampleRow upsampled_ = {};
  PlanarTarget band_;
  int next_row_;  // of the image, to be sent to the sink
};

}  // namespace penstock
