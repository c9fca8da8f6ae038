// What a worker's TileScratch holds.
#pragma once

#include "codec/region_output.h"
#include "tiles/decode_tiles.h"
#include "tiles/tile_symbols.h"

namespace penstock {

struct TileState {
  TileSymbols symbols{};
  alignas(64) int16_t coefficients[64 * kBlockGroup] = {};  // zero between uses
  RegionBuffers region;
};

}  // namespace penstock
