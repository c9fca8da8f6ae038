// Rows to an output without resizing: mirror and final pass only. And ways to feed a sink.
#pragma once

#include "base/buffer.h"
#include "base/image.h"
#include "base/scratch.h"
#include "kernels/output.h"

namespace penstock {

struct CopyState;
using CopyScratch = Scratch<CopyState>;

/// A sink that writes bands of the output's size to `output`, mirrored if asked.
/// Valid until the next call with the same scratch.
RowSink& begin_copy(CopyScratch& scratch, int in_channels, bool flip_horizontal, bool flip_vertical,
                    const Output& output);

/// Sends `region` of a planar image to `sink` as one band.
void feed_planar(RowSink& sink, const PlanarView& image, const Region& region);

/// The same for planes in somebody's array, which may end with their last pixel: the last rows are
/// sent from a copy with slack.
void feed_foreign_planes(RowSink& sink, const PlanarView& image, const Region& region,
                         Buffer& scratch);

/// Sends `region` of an interleaved RGB image to `sink`, a few rows at a time. Its pixels have 3
/// bytes, or 4 of which the last is left alone.
void feed_interleaved(RowSink& sink, const uint8_t* rgb, ptrdiff_t stride, const Region& region,
                      Buffer& scratch, int pixel_bytes = 3);

/// Splits interleaved RGB pixels into three rows; may write up to kRowSlack bytes past each.
void deinterleave_row(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgb, int width);

}  // namespace penstock
