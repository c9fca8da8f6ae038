// The sizes of a JPEG and of its components when it is decoded at a fraction of its size.
#pragma once

#include <span>

#include "codec/jpeg_header.h"

namespace penstock {

/// A component's sampling factors.
struct Sampling {
  int horizontal = 1;
  int vertical = 1;
};

struct FrameComponent {
  int block_height = 8;  // samples that a block is turned into
  int block_width = 8;
  int height = 0;  // samples
  int width = 0;
  int horizontal_ratio = 1;  // pixels of the frame for each sample
  int vertical_ratio = 1;
};

struct Frame {
  int height = 0;  // pixels
  int width = 0;
  int unit_height = 0;  // pixels of an MCU
  int unit_width = 0;
  int components = 0;
  FrameComponent component[3];
};

/// At which fraction of its size an image is decoded: 1 / scale, where scale is 1, 2, 4 or 8.
struct Reduction {
  int scale = 1;
  /// At an eighth only: every block becomes one sample, of its first coefficient, so that
  /// subsampled colour is coarser than it could be. Enough for means.
  bool dc_alone = false;
};

/// What an image of `size` pixels is reduced to; its last pixel may lie half outside.
constexpr int reduced_size(int size, int scale) { return (size + scale - 1) / scale; }

/// The reduced frame. Subsampled chroma is reduced less, as far as its blocks have the samples:
/// 4:2:0 and 4:2:2 at half size need no upsampling at all. Blocks are at most twice as wide as
/// high, or the reverse. Requires that the first component's factors are the largest, and that the
/// others' divide them.
Frame make_frame(int height, int width, std::span<const Sampling> components,
                 const Reduction& reduction);

/// Requires Route::baseline.
Frame make_frame(const JpegHeader& header, const Reduction& reduction);

}  // namespace penstock
