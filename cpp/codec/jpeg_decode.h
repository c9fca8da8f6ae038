// A region of a JPEG as planar rows, with the very bytes that a full decode by libjpeg would give;
// or, nearly, of the JPEG reduced to 1/2, 1/4 or 1/8, straight from its coefficients.
#pragma once

#include <span>
#include <string>

#include "base/image.h"
#include "base/scratch.h"
#include "codec/frame.h"
#include "codec/jpeg_header.h"
#include "codec/row_starts.h"

namespace penstock {

enum class DecodeStatus : int32_t {
  ok = 0,
  irregular = 1,  // entropy data our decoder does not vouch for; libjpeg may be asked
  warned = 2,     // libjpeg repaired something; only Pillow itself can say what its pixels are
  failed = 3,     // libjpeg gave up
};

struct DecodeResult {
  DecodeStatus status = DecodeStatus::ok;
  std::string message;  // empty when ok; else a sentence part without the file's name
};

/// A worker's recycled tables, coefficient rows and planes.
struct DecodeState;
using DecodeScratch = Scratch<DecodeState>;

/// Our own decoder. Requires header.route == Route::baseline and a region inside the
/// reduced image (see reduced_size). Sends `region` to `sink` (one channel
/// for gray, else RGB); after `irregular` the sink may have received some bands and must be set up
/// anew. With `luma_alone` it is one channel, the luminance as it lies in the file.
/// `rows`, if given, are what an earlier call found out about the same bytes; it becomes longer if
/// this one finds out more.
DecodeResult decode_baseline(RowSink& sink, std::span<const uint8_t> bytes,
                             const JpegHeader& header, const Region& region, DecodeScratch& scratch,
                             const Reduction& reduction = {}, bool luma_alone = false,
                             RowStarts* rows = nullptr);

/// The same for progressive files. Requires header.is_own_progressive and a region inside the
/// image. All of the file is read; after `irregular` the sink has received nothing.
DecodeResult decode_progressive(RowSink& sink, std::span<const uint8_t> bytes,
                                const JpegHeader& header, const Region& region,
                                DecodeScratch& scratch, bool luma_alone = false);

/// libjpeg-turbo, skipping what lies outside the region where that leaves its bytes unchanged.
/// Requires Route::baseline or Route::libjpeg.
DecodeResult decode_libjpeg(RowSink& sink, std::span<const uint8_t> bytes, const JpegHeader& header,
                            const Region& region, DecodeScratch& scratch, bool luma_alone = false);

/// The oracle: a whole image by plain libjpeg calls, without any skipping.
DecodeResult decode_libjpeg_whole(RowSink& sink, std::span<const uint8_t> bytes,
                                  DecodeScratch& scratch);

}  // namespace penstock
