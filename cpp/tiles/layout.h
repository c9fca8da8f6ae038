// Numbers of the `dct` record; docs/format-tiles.md is normative.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::tile_layout {

inline constexpr int kVersion = 1;

// Offsets in the fixed part of the header; numbers are little-endian.
inline constexpr size_t kVersionAt = 0;
inline constexpr size_t kColourAt = 1;
inline constexpr size_t kTileColumnsAt = 2;  // MCUs
inline constexpr size_t kTileRowsAt = 3;
inline constexpr size_t kHeightAt = 4;  // pixels
inline constexpr size_t kWidthAt = 6;
inline constexpr size_t kTileBytesAt = 8;  // of all tiles together
inline constexpr size_t kRestoreBytesAt = 12;
inline constexpr size_t kQuantTablesAt = 16;
inline constexpr size_t kQuantBytesAt = 17;  // of one value: 1 or 2
inline constexpr size_t kComponentsAt = 18;

// Offsets in the entry of a component.
inline constexpr size_t kFactorsAt = 0;
inline constexpr size_t kQuantIndexAt = 1;
inline constexpr size_t kDcMinimumAt = 2;
inline constexpr size_t kDcMinimumBitsAt = 4;
inline constexpr size_t kComponentEntryBytes = 5;

inline constexpr size_t kTileLengthBytes = 2;

/// Bytes that follow the last tile, so that readers may load whole vectors.
inline constexpr size_t kSlackBytes = 64;

inline constexpr int kMaxComponentBlocks = 32;  // of one component in a tile
inline constexpr int kMaxTileBlocks = 3 * kMaxComponentBlocks;
inline constexpr int kMaxTileValues = 63 * kMaxTileBlocks;

// Widths of fields in a tile's head.
inline constexpr int kDcWidthBits = 5;
inline constexpr int kEndWidthBits = 3;
inline constexpr int kLongestBits = 4;
inline constexpr int kMaxDcWidth = 16;
inline constexpr int kMaxEndWidth = 6;
inline constexpr int kMaxValueBits = 15;

/// Longer values keep this many of their bits among the values, the others among the extras.
inline constexpr int kShortBits = 7;

/// Bytes of a tile whose values all have kMaxValueBits bits: a mask bit, a bit in each plane, and
/// the value itself; besides those, the fields of a block and of the head.
inline constexpr int kMaxTileBytes =
    (3 * (kMaxDcWidth + kDcWidthBits + kEndWidthBits) + kLongestBits +
     kMaxTileBlocks * (kMaxDcWidth + kMaxEndWidth) + kMaxTileValues * 2 * kMaxValueBits + 7) /
    8;
static_assert(kMaxTileBytes <= 65535, "lengths of tiles have 16 bits");

}  // namespace penstock::tile_layout
