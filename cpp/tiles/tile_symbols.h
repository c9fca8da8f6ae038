// A tile's contents, out of its bit string but not yet in blocks.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "tiles/layout.h"
#include "tiles/tile_grid.h"
#include "tiles/tile_image.h"

namespace penstock {

/// One tile. Blocks are numbered as TileBlocks says.
struct TileSymbols {
  static constexpr int kMaxBlocks = tile_layout::kMaxTileBlocks;
  static constexpr int kMaxValues = tile_layout::kMaxTileValues;
  static constexpr int kSlack = 64;  // vector code may write (and read) this many elements more

  alignas(64) int16_t dc[kMaxBlocks + kSlack];
  uint64_t mask[kMaxBlocks + kSlack];   // bit i: zigzag position i is not zero; bit 0 is not set
  uint16_t first[kMaxBlocks + kSlack];  // of a block's values
  alignas(64) int8_t values[kMaxValues + kSlack];  // of all blocks, each in zigzag order

  // Values of more than kShortBits bits are wide: they have high bytes as well.
  bool any_wide = false;
  uint64_t
      wide[kMaxValues / 64 + 1];  // a bit for each value; set if any_wide, as are the high bytes
  alignas(64) int8_t high[kMaxValues + kSlack];

  bool has_wide(int first_block, int end_block) const {
    if (!any_wide) return false;
    const int behind = first[end_block];
    for (int i = first[first_block]; i < behind; i = (i | 63) + 1) {
      const uint64_t above = behind - i < 64 ? ~uint64_t{0} << (behind - i) : 0;
      if ((wide[i / 64] >> i % 64 & ~above) != 0) return true;
    }
    return false;
  }

  // Between the stages of unpacking.
  alignas(64) uint8_t end[kMaxBlocks + kSlack];
  alignas(64) uint8_t length[kMaxValues + kSlack];
  alignas(64) uint8_t deeper[kMaxValues + kSlack];
};

/// Unpacks the tile of `size` bytes at `bytes`; the kSlackBytes behind them must be readable.
/// Returns nullptr, or what is wrong with the tile. All variants accept the same tiles.
PENSTOCK_VARIANTS(const char* unpack_tile(TileSymbols& symbols, const uint8_t* bytes, int size,
                                          const TileImage& image, const TileShape& shape))

/// Only `dc`, from the tile's first bytes: what follows them is neither read nor checked.
PENSTOCK_VARIANTS(const char* unpack_dc(TileSymbols& symbols, const uint8_t* bytes, int size,
                                        const TileImage& image, const TileShape& shape))

/// Block number `number` as 64 coefficients in natural order, which must be zero before.
/// Coefficients behind zigzag position `last_wanted` are left out.
PENSTOCK_VARIANTS(void expand_block(int16_t* block, const TileSymbols& symbols, int number,
                                    int last_wanted))

}  // namespace penstock
