#include "records/jpeg_record.h"

#include "codec/read_coefficients.h"
#include "tiles/encode_tiles.h"
#include "tiles/tile_image.h"

namespace penstock {
namespace {

const char* read_back(CoefficientImage& image, TileImage& record_image,
                      std::span<const uint8_t> record, TileScratch& scratch) {
  if (const char* problem = record_image.parse(record)) return problem;
  return read_tiles(image, record_image, scratch);
}

bool have_same_coefficients(const CoefficientImage& a, const CoefficientImage& b) {
  if (a.components != b.components) return false;
  for (int c = 0; c < a.components; ++c)
    if (a.component[c].coefficients != b.component[c].coefficients) return false;
  return true;
}

/// Fills in all but the header; returns nullptr, or why there is no `dct` record.
const char* encode_dct(JpegRecord& result, std::span<const uint8_t> file, RecordScratch& scratch) {
  Likeness likeness = Likeness::bytes;
  if (const char* problem = make_restore(scratch.restore, likeness, file, result.header,
                                         scratch.image, scratch.restoring, scratch.decode))
    return problem;
  if (const char* problem = encode_tiles(result.dct, scratch.image, scratch.restore))
    return problem;
  TileImage record_image;
  if (const char* problem = read_back(scratch.read_back, record_image, result.dct, scratch.tiles))
    return problem;
  if (!have_same_coefficients(scratch.image, scratch.read_back))
    return "the record does not read back";
  result.is_dct = true;
  result.is_identical = likeness == Likeness::bytes;
  if (!result.is_identical)
    result.reason =
        result.header.route == Route::baseline ? "unusual entropy coding" : result.header.reason;
  return nullptr;
}

}  // namespace

JpegRecord encode_record(std::span<const uint8_t> file, RecordScratch& scratch) {
  JpegRecord result;
  result.header = read_jpeg_header(file);
  if (result.header.route == Route::pillow) {
    result.reason = result.header.reason;
    return result;
  }
  const DecodeResult read = read_coefficients(scratch.image, file, result.header, scratch.decode);
  if (read.status != DecodeStatus::ok) {
    result.reason = read.message;
    return result;
  }
  if (const char* problem = encode_dct(result, file, scratch)) {
    result.dct.clear();
    result.reason = problem;
  }
  return result;
}

const char* rebuild_file(std::vector<uint8_t>& file, std::span<const uint8_t> record,
                         RecordScratch& scratch) {
  TileImage record_image;
  if (const char* problem = read_back(scratch.image, record_image, record, scratch.tiles))
    return problem;
  return rebuild(file, scratch.image, record_image.restore());
}

}  // namespace penstock
