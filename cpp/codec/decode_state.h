// What a worker's DecodeScratch holds.
#pragma once

#include "base/buffer.h"
#include "codec/huffman.h"
#include "codec/jpeg_decode.h"
#include "codec/progressive_scans.h"
#include "codec/region_output.h"

namespace penstock {

/// The tables of one scan.
struct ProgressiveTables {
  DcTable dc[4];
  SymbolTable ac;
};

struct DecodeState {
  HuffmanTables tables;
  ProgressiveTables progressive;
  Buffer unstuffed;
  Buffer coefficients;
  Buffer nonzero;  // masks of all blocks of a progressive image
  RegionBuffers region;
  Buffer interleaved;  // libjpeg's rows
};

}  // namespace penstock
