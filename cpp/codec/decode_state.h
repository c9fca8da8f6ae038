// What a worker's DecodeScratch holds.
#pragma once

#include "base/buffer.h"
#include "codec/huffman.h"
#include "codec/jpeg_decode.h"

namespace penstock {

struct DecodeScratch::State {
  HuffmanTables tables;
  Buffer unstuffed;
  Buffer coefficients;
  Buffer planes[3];
  Buffer upsampled;
  Buffer band;
  Buffer interleaved;  // libjpeg's rows
};

}  // namespace penstock
