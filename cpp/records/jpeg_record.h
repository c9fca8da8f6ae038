// From a JPEG file to the record that a packed data set stores, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codec/coefficient_image.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "codec/restore/restore.h"
#include "tiles/decode_tiles.h"

namespace penstock {

/// Recycled memory of the functions below.
struct RecordScratch {
  CoefficientImage image;
  CoefficientImage read_back;
  std::vector<uint8_t> restore;
  std::vector<uint8_t> file;
  DecodeScratch decode;
  RestoreScratch restoring;
  TileScratch tiles;
};

struct JpegRecord {
  bool is_dct = false;        // else the file itself is the record
  std::vector<uint8_t> dct;   // the record, if it is one
  bool is_identical = false;  // rebuild_file gives the very same file
  std::string reason;         // why not `dct`, or why not identical; else empty
  JpegHeader header;
};

/// Never fails: what cannot be a `dct` record says so. A record has been read back, and the file
/// rebuilt and compared, when this returns.
JpegRecord encode_record(std::span<const uint8_t> file, RecordScratch& scratch);

/// Replaces `file` by the one that a `dct` record was made of. Returns nullptr, or what is wrong
/// with the record.
const char* rebuild_file(std::vector<uint8_t>& file, std::span<const uint8_t> record,
                         RecordScratch& scratch);

}  // namespace penstock
