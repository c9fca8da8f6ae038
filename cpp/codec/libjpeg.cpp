#include <algorithm>

#include "codec/decode_state.h"
#include "codec/jpeg_decode.h"
#include "codec/libjpeg_reader.h"
#include "kernels/copy_rows.h"

namespace penstock {
namespace {

DecodeResult outcome(const LibjpegReader& reader, bool succeeded) {
  if (!succeeded) return {DecodeStatus::failed, reader.message()};
  if (reader.warned()) return {DecodeStatus::warned, reader.message()};
  if (reader.incomplete()) return {DecodeStatus::warned, "incomplete progression"};
  return {};
}

/// Reads the next rows and sends columns [left, left + width) of them to the sink, as rows 0 to
/// `rows` - 1.
bool send_rows(RowSink& sink, LibjpegReader& reader, int rows, int left, int width,
               DecodeState& state) {
  const int channels = reader.channels();
  const ptrdiff_t read_stride = ptrdiff_t{reader.width()} * channels + kRowSlack;
  uint8_t* const read = state.interleaved.reserve(kBandRows * read_stride);
  const uint8_t* const wanted = read + ptrdiff_t{left} * channels;

  PlanarTarget planes;
  planes.stride = width + kRowSlack;
  planes.width = width;
  planes.channels = channels;
  uint8_t* const band = state.region.band.reserve(3 * kBandRows * planes.stride);
  for (int c = 0; c < channels; ++c) planes.plane[c] = band + c * kBandRows * planes.stride;

  for (int first = 0; first < rows; first += kBandRows) {
    const int count = std::min(kBandRows, rows - first);
    if (!reader.read_rows(read, read_stride, count)) return false;
    if (channels == 1) {
      sink.take({{wanted}, read_stride, count, width, 1}, first);
      continue;
    }
    planes.height = count;
    for (int y = 0; y < count; ++y)
      deinterleave_row(planes.row(0, y), planes.row(1, y), planes.row(2, y),
                       wanted + y * read_stride, width);
    sink.take(planes.view(), first);
  }
  return true;
}

/// Reads and drops rows, which a later one depends on.
bool drop_rows(LibjpegReader& reader, int rows, Buffer& row) {
  uint8_t* const dropped = row.reserve(size_t{3} * reader.width());
  return reader.read_rows(dropped, 0, rows);
}

bool send_region(RowSink& sink, LibjpegReader& reader, const Region& region, DecodeState& state) {
  // A unit more on every side, for edges are upsampled differently; in libjpeg's view the first
  // row and the outer columns that it decodes are edges.
  int left = std::max(0, region.left - reader.unit_width());
  int width = std::min(reader.width(), region.left + region.width + reader.unit_width()) - left;
  if (width < reader.width() && !reader.crop_columns(left, width)) return false;
  const int skipped = std::max(0, region.top - reader.unit_height());
  if (skipped > 0 && !reader.skip_rows(skipped)) return false;
  return drop_rows(reader, region.top - skipped, state.interleaved) &&
         send_rows(sink, reader, region.height, region.left - left, region.width, state);
}

}  // namespace

DecodeResult decode_libjpeg(RowSink& sink, std::span<const uint8_t> bytes, const JpegHeader& header,
                            const Region& region, DecodeScratch& scratch, bool luma_alone) {
  LibjpegReader reader(bytes);
  if (!reader.start(luma_alone)) return outcome(reader, false);
  if (reader.height() != header.height || reader.width() != header.width)
    return {DecodeStatus::failed, "libjpeg reads another size from the header"};
  return outcome(reader, send_region(sink, reader, region, scratch.state()));
}

DecodeResult decode_libjpeg_whole(RowSink& sink, std::span<const uint8_t> bytes,
                                  DecodeScratch& scratch) {
  LibjpegReader reader(bytes);
  const bool succeeded =
      reader.start() &&
      send_rows(sink, reader, reader.height(), 0, reader.width(), scratch.state()) &&
      reader.finish();
  return outcome(reader, succeeded);
}

}  // namespace penstock
