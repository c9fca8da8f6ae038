#include "tiles/encode_tiles.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tiles/encode_tile.h"
#include "tiles/layout.h"

namespace penstock {
namespace {

using namespace tile_layout;

// Pixels of a tile: wide enough to fill vectors, low enough that a crop skips most of what it does
// not need.
constexpr int kTileHeight = 32;
constexpr int kTileWidth = 64;

constexpr int kMaxSide = 65535;

template <class Number>
void put_number(std::vector<uint8_t>& record, size_t at, Number number) {
  for (size_t i = 0; i < sizeof number; ++i)
    record[at + i] = static_cast<uint8_t>(static_cast<uint64_t>(number) >> 8 * i);
}

const char* why_not(const CoefficientImage& image) {
  if (image.height < 1 || image.width < 1 || image.height > kMaxSide || image.width > kMaxSide)
    return "image larger than 65535 pixels a side";
  for (int c = 0; c < image.components; ++c) {
    const std::vector<int16_t>& coefficients = image.component[c].coefficients;
    int16_t least = 0;  // in one go, which a compiler makes vectors of
    for (const int16_t coefficient : coefficients) least = std::min(least, coefficient);
    constexpr int16_t kTooLong = std::numeric_limits<int16_t>::min();
    for (size_t i = 0; least == kTooLong && i < coefficients.size(); ++i)
      if (coefficients[i] == kTooLong && i % 64 != 0) return "coefficient of more than 15 bits";
  }
  return nullptr;
}

TileGrid grid_of(const CoefficientImage& image) {
  TileGrid grid;
  grid.mcu_rows = image.mcu_rows();
  grid.mcu_columns = image.mcu_columns();
  grid.components = image.components;
  for (int c = 0; c < image.components; ++c)
    grid.factors[c] = {image.component[c].horizontal, image.component[c].vertical};
  grid.tile_mcu_rows = std::max(1, kTileHeight / (8 * grid.factors[0].vertical));
  grid.tile_mcu_columns = std::max(1, kTileWidth / (8 * grid.factors[0].horizontal));
  return grid;
}

/// The distinct quantisation tables and which of them each component uses.
struct QuantTables {
  int count = 0;
  const uint16_t* table[3];
  int index[3];
  int value_bytes = 1;
};

QuantTables quant_tables(const CoefficientImage& image) {
  QuantTables tables;
  for (int c = 0; c < image.components; ++c) {
    const uint16_t* quant = image.component[c].quant;
    int i = 0;
    while (i < tables.count && !std::equal(quant, quant + 64, tables.table[i])) ++i;
    if (i == tables.count) tables.table[tables.count++] = quant;
    tables.index[c] = i;
    if (*std::max_element(quant, quant + 64) > 255) tables.value_bytes = 2;
  }
  return tables;
}

void put_header(std::vector<uint8_t>& record, const CoefficientImage& image, const TileGrid& grid,
                const DcRange (&ranges)[3], size_t restore_bytes) {
  const QuantTables tables = quant_tables(image);
  record.resize(kComponentsAt + image.components * kComponentEntryBytes);
  put_number(record, kVersionAt, static_cast<uint8_t>(kVersion));
  put_number(record, kColourAt, static_cast<uint8_t>(image.colour));
  put_number(record, kTileColumnsAt, static_cast<uint8_t>(grid.tile_mcu_columns));
  put_number(record, kTileRowsAt, static_cast<uint8_t>(grid.tile_mcu_rows));
  put_number(record, kHeightAt, static_cast<uint16_t>(image.height));
  put_number(record, kWidthAt, static_cast<uint16_t>(image.width));
  put_number(record, kRestoreBytesAt, static_cast<uint32_t>(restore_bytes));
  put_number(record, kQuantTablesAt, static_cast<uint8_t>(tables.count));
  put_number(record, kQuantBytesAt, static_cast<uint8_t>(tables.value_bytes));
  for (int c = 0; c < image.components; ++c) {
    const size_t entry = kComponentsAt + c * kComponentEntryBytes;
    const int factors = grid.factors[c].horizontal << 4 | grid.factors[c].vertical;
    put_number(record, entry + kFactorsAt, static_cast<uint8_t>(factors));
    put_number(record, entry + kQuantIndexAt, static_cast<uint8_t>(tables.index[c]));
    put_number(record, entry + kDcMinimumAt, static_cast<int16_t>(ranges[c].minimum));
    put_number(record, entry + kDcMinimumBitsAt, static_cast<uint8_t>(ranges[c].bits));
  }
  for (int t = 0; t < tables.count; ++t)
    for (int i = 0; i < 64; ++i)
      for (int byte = 0; byte < tables.value_bytes; ++byte)
        record.push_back(static_cast<uint8_t>(tables.table[t][i] >> 8 * byte));
}

}  // namespace

const char* encode_tiles(std::vector<uint8_t>& record, const CoefficientImage& image,
                         std::span<const uint8_t> restore) {
  if (const char* reason = why_not(image)) return reason;
  const TileGrid grid = grid_of(image);
  DcRange ranges[3];
  for (int c = 0; c < image.components; ++c) ranges[c] = dc_range(image.component[c]);
  record.clear();
  put_header(record, image, grid, ranges, restore.size());

  size_t length_at = record.size();
  record.resize(length_at + kTileLengthBytes * grid.rows() * grid.columns());
  const size_t tiles_at = record.size();
  for (int row = 0; row < grid.rows(); ++row)
    for (int column = 0; column < grid.columns(); ++column) {
      const size_t tile_at = record.size();
      encode_tile(record, image, ranges, grid, row, column);
      put_number(record, length_at, static_cast<uint16_t>(record.size() - tile_at));
      length_at += kTileLengthBytes;
    }
  const size_t tiles_end = record.size();
  constexpr size_t kMaxSection = std::numeric_limits<uint32_t>::max();
  if (tiles_end - tiles_at > kMaxSection || restore.size() > kMaxSection)
    return "record larger than 4 GB";
  put_number(record, kTileBytesAt, static_cast<uint32_t>(tiles_end - tiles_at));
  record.insert(record.end(), restore.begin(), restore.end());
  record.resize(std::max(record.size(), tiles_end + kSlackBytes));
  return nullptr;
}

}  // namespace penstock
