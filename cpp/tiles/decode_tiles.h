// From a `dct` record to pixels, or back to coefficients.
#pragma once

#include "base/image.h"
#include "base/outline.h"
#include "base/scratch.h"
#include "codec/coefficient_image.h"
#include "codec/jpeg_decode.h"
#include "tiles/tile_image.h"

namespace penstock {

/// A worker's recycled symbols, planes and bands.
struct TileState;
using TileScratch = Scratch<TileState>;

/// Sends `region` to `sink` (one channel for gray, else RGB): the pixels that a full decode of the
/// JPEG by libjpeg would have; or, reduced, those of decode_baseline. Requires a region inside the
/// reduced image. Of the region, only what is `wanted`, in its
/// pixels, has to be right: other tiles are not looked at. After `failed`, the only other status
/// than `ok`, the sink may have received some bands.
DecodeResult decode_tiles(RowSink& sink, const TileImage& image, const Region& region,
                          TileScratch& scratch, const Reduction& reduction = {},
                          const Outline& wanted = {});

/// How many rows above and below a pixel the decoder looks at, in pixels of the reduced image. A
/// region with that many rows more on each side depends on no other tile rows than those it lies
/// in.
int rows_around(const TileImage& image, const Reduction& reduction = {});

/// All coefficients. Returns nullptr, or what is wrong with a tile.
const char* read_tiles(CoefficientImage& coefficients, const TileImage& image,
                       TileScratch& scratch);

/// Unpacks every tile, as decode_tiles would for all pixels, and keeps nothing. Returns nullptr, or
/// what is wrong with a tile.
const char* check_tiles(const TileImage& image, TileScratch& scratch);

}  // namespace penstock
