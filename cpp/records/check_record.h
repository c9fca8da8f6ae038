// Whether the records of a packed file are what its index says of them.
#pragma once

#include <cstdint>
#include <span>

#include "records/jpeg_record.h"

namespace penstock {

/// Bytes and checksum of a part of a record, as the index has them.
struct PartFacts {
  uint32_t bytes;
  uint32_t crc;
};

/// A record, and what the index says of it. Numbers that cannot be are only never right.
struct RecordFacts {
  std::span<const uint8_t> record;
  std::span<const uint8_t> padding;  // behind the record
  bool is_dct = false;
  int64_t crc = 0;
  std::span<const PartFacts> parts;  // none in files of version 1
  int64_t part_rows = 0;
  int64_t rows_around = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t original_size = 0;
  int64_t original_crc = 0;
};

/// How closely records are looked at. Each includes those before it; only `dct` records have more
/// than bytes.
enum class RecordCheck : uint8_t {
  bytes,     // checksums of the record and of its parts, where these lie, zeros behind it
  tiles,     // every tile is unpacked, as for pixels; the image has the size that is said of it
  original,  // the original file is rebuilt and has its size and checksum
};

/// False says that something is wrong, but not what.
bool is_sound(const RecordFacts& facts, RecordCheck check, RecordScratch& scratch);

}  // namespace penstock
