// A `dct` record in memory, checked once so that decoding can rely on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/coefficient_image.h"
#include "tiles/tile_grid.h"

namespace penstock {

inline constexpr char kBadLengths[] = "lengths of tiles do not add up";

struct TileComponent {
  int dc_minimum = 0;       // what tiles count their own minima from
  int dc_minimum_bits = 0;  // of a tile's minimum
  uint16_t quant[64] = {};  // natural order
};

/// Refers to the record's bytes; they must outlive it.
class TileImage {
 public:
  /// Returns nullptr, or what is wrong with the record. Reads nothing outside `record`. Afterwards
  /// every tile lies inside the record and has tile_layout::kSlackBytes readable bytes behind it;
  /// its contents may still be anything.
  const char* parse(std::span<const uint8_t> record);

  int height() const { return height_; }
  int width() const { return width_; }
  Colour colour() const { return colour_; }
  int components() const { return grid_.components; }
  const TileGrid& grid() const { return grid_; }
  // Inlined even in unoptimised builds: files for newer instruction sets use it.
  [[gnu::always_inline]] const TileComponent& component(int c) const { return component_[c]; }

  /// What comes before the first tile: header, component entries, tables and tile lengths.
  std::span<const uint8_t> head() const { return record_.first(tiles_ - record_.data()); }
  std::span<const uint8_t> record() const { return record_; }
  /// Opaque here; see encode_tiles.
  std::span<const uint8_t> restore() const { return restore_; }

  int tile_length(int row, int column) const {
    const uint8_t* entry = lengths_ + 2 * (size_t{1} * row * grid_.columns() + column);
    return entry[0] | entry[1] << 8;
  }
  /// The first byte of a row of tiles, which lie one behind the other; of the row behind the last
  /// one, their end. Takes time in proportion to the tiles before it.
  const uint8_t* tile_row(int row) const;
  /// Whether a tile of this length at this place lies inside the record. Always so, unless the
  /// record is part of a file that somebody is writing to.
  bool has_tile(const uint8_t* tile, int length) const { return length <= tiles_end_ - tile; }

 private:
  const char* parse_components(std::span<const uint8_t> record);

  int height_ = 0;
  int width_ = 0;
  Colour colour_ = Colour::gray;
  TileGrid grid_;
  TileComponent component_[3];
  std::span<const uint8_t> record_;
  const uint8_t* lengths_ = nullptr;
  const uint8_t* tiles_ = nullptr;
  const uint8_t* tiles_end_ = nullptr;
  std::span<const uint8_t> restore_;
};

}  // namespace penstock
