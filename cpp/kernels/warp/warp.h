// Affine and perspective warps, bit-identical to Pillow's Image.transform.
#pragma once

#include "base/buffer.h"
#include "base/image.h"
#include "base/outline.h"
#include "kernels/resample.h"

namespace penstock {

/// A worker's recycled memory for warps.
struct WarpScratch {
  Buffer words;
  Buffer columns;
};

/// Which part of a warp is wanted, and which part of its source is at hand: (top, left) in the
/// whole output and the whole source, and the sizes of these two. A part of a warp has the very
/// pixels that it has in the whole.
struct WarpFrame {
  int out_top = 0, out_left = 0, out_height = 0, out_width = 0;
  int in_top = 0, in_left = 0, in_height = 0, in_width = 0;
};

/// All of the output from all of the source.
inline WarpFrame whole_frame(const PlanarTarget& out, const PlanarView& in) {
  return {0, 0, out.height, out.width, 0, 0, in.height, in.width};
}

/// The same from numbers, in the order of the fields; all of them 0 stand for no frame.
inline bool has_frame(const double (&numbers)[8]) { return numbers[2] != 0; }
inline WarpFrame frame_of(const double (&n)[8]) {
  const auto whole = [](double number) { return static_cast<int>(number); };
  return {whole(n[0]), whole(n[1]), whole(n[2]), whole(n[3]),
          whole(n[4]), whole(n[5]), whole(n[6]), whole(n[7])};
}

/// The part of a source of this size that the pixels of `window`, a part of the output, are made
/// of with any filter; at least one pixel. The whole source where that cannot be told.
Region warp_source(const double (&matrix)[6], const Region& window, int in_height, int in_width);
Region warp_source(const double (&matrix)[8], const Region& window, int in_height, int in_width);

/// The same more closely: pixels outside it are not looked at, inside it they may be. All where
/// that cannot be told.
Outline warp_outline(const double (&matrix)[6], const Region& window, int in_height, int in_width);
Outline warp_outline(const double (&matrix)[8], const Region& window, int in_height, int in_width);

/// Fills `out` with what lies at (a x + b y + c, d x + e y + f) in `in`, where x and y are the
/// centres of the pixels of `out` and `matrix` is a .. f; pixels from outside `in` become `fill`.
///
/// Requires: `in` holds warp_source of the part that `out` is; `in` and `out` do not overlap and
/// have at least 1x1 pixels; `out` has three channels,
/// or one if `in` has one and `fill` is gray; kRowSlack bytes past every row of `out` may be
/// written; filter is nearest, bilinear or bicubic. Any numbers will do, NaN and infinity included.
void warp_affine(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                 const double (&matrix)[6], Filter filter, const uint8_t (&fill)[3],
                 WarpScratch& scratch);

/// The same a little off, in less time: with a bilinear filter, places are rounded to 2^-15 of a
/// pixel and the weights of neighbours side by side to 1/128, where no fill is near. Where a part
/// begins decides on what is rounded, so a part of a warp may differ from that part of the whole.
void warp_affine_rounded(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                         const double (&matrix)[6], Filter filter, const uint8_t (&fill)[3],
                         WarpScratch& scratch);

/// The same as warp_affine with what lies at ((a x + b y + c) / w, (d x + e y + f) / w), where w =
/// g x + h y + 1.
void warp_perspective(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                      const double (&matrix)[8], Filter filter, const uint8_t (&fill)[3],
                      WarpScratch& scratch);

}  // namespace penstock
