// What a worker's DecodeScratch holds.
#pragma once

#include "base/buffer.h"
#include "codec/huffman.h"
#include "codec/jpeg_decode.h"
#include "codec/region_output.h"

namespace penstock {

struct DecodeState {
  HuffmanTables tables;
  Buffer unstuffed;
  Buffer coefficients;
  RegionBuffers region;
  Buffer interleaved;  // libjpeg's rows
};

}  // namespace penstock
