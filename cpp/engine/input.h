// Where a step's pixels come from: a JPEG, coefficient tiles, RGB pixels, or the step before.
#pragma once

#include <functional>

#include "base/buffer.h"
#include "base/image.h"
#include "base/outline.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "engine/row_memory.h"
#include "tiles/decode_tiles.h"

namespace penstock {

/// The bytes of a JPEG with its header, coefficient tiles, or interleaved RGB pixels.
struct SampleSource {
  std::span<const uint8_t> jpeg;
  const JpegHeader* header = nullptr;
  RowStarts* rows = nullptr;  // of the JPEG, if somebody keeps them
  const TileImage* tiles = nullptr;
  const uint8_t* rgb = nullptr;
  ptrdiff_t rgb_stride = 0;
  int height = 0;
  int width = 0;
};

/// The version of a file that rows are kept of: unknown unless it is a baseline JPEG.
inline FileVersion version_for_rows(const SampleSource& source, const FileVersion& version) {
  const bool has_rows = source.header != nullptr && source.header->route == Route::baseline;
  return has_rows ? version : FileVersion{};
}

/// What a worker keeps between samples for reading them.
struct InputScratch {
  DecodeScratch decode;
  TileScratch tiles;
  Buffer interleaved;
};

/// Rows of the image that a step reads, on demand; of the image reduced by `scale`, if that is
/// not 1.
class Input {
 public:
  virtual ~Input() = default;
  /// `region` is in pixels of the reduced image. `irregular` only if it is reduced.
  virtual DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) = 0;
  int height = 0;
  int width = 0;
  int channels = 3;
  int scale = 1;
  bool dc_alone = false;  // with a scale of 8
  /// What is needed of a region that is sent, in its pixels; the rest of it may be anything.
  Outline wanted;
};

class PlanarInput final : public Input {
 public:
  explicit PlanarInput(const PlanarView& image);
  /// `image` is the part of `whole` that has its top left pixel at `top`, `left`.
  PlanarInput(const PlanarView& image, int top, int left, const Input& whole);
  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override;

 private:
  PlanarView image_;
  int top_ = 0;
  int left_ = 0;
};

/// Reduced where the source can be; of a JPEG, the luminance alone if asked.
class SourceInput final : public Input {
 public:
  SourceInput(const SampleSource& source, const Reduction& reduction, InputScratch& scratch,
              bool luma_alone = false);
  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override;

 private:
  Reduction reduction() const { return {scale, dc_alone && scale == 8}; }
  DecodeResult send_jpeg(const Region& region, const std::function<RowSink&()>& begin);

  const SampleSource& source_;
  InputScratch& scratch_;
  const bool luma_alone_;
};

/// The gray of a colour image, made row by row before a step reads it: reads `colour`, which has
/// three channels, through Pillow's conversion. `memory` holds a few rows.
class GrayInput final : public Input {
 public:
  GrayInput(Input& colour, Buffer& memory);
  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override;

 private:
  Input& colour_;
  Buffer& memory_;
};

}  // namespace penstock
