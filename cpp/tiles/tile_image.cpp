#include "tiles/tile_image.h"

#include <algorithm>
#include <cstring>

#include "codec/reconstruct.h"
#include "tiles/layout.h"

namespace penstock {
namespace {

using namespace tile_layout;

template <class Number>
Number number_at(const uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

uint64_t sum_of_lengths(const uint8_t* lengths, size_t tiles) {
  uint64_t sum = 0;
  for (size_t i = 0; i < tiles; ++i) sum += number_at<uint16_t>(lengths + kTileLengthBytes * i);
  return sum;
}

/// Whether the first component has the largest factors, and the others can be upsampled to it.
bool are_factors_usable(const TileGrid& grid) {
  for (int c = 0; c < grid.components; ++c) {
    const auto& factors = grid.factors[c];
    if (factors.horizontal < 1 || factors.horizontal > 4 || factors.vertical < 1 ||
        factors.vertical > 4)
      return false;
    const auto& largest = grid.factors[0];
    if (largest.horizontal % factors.horizontal != 0 || largest.vertical % factors.vertical != 0 ||
        !can_upsample(largest.horizontal / factors.horizontal, largest.vertical / factors.vertical))
      return false;
  }
  return grid.components > 1 || (grid.factors[0].horizontal == 1 && grid.factors[0].vertical == 1);
}

}  // namespace

const char* TileImage::parse_components(std::span<const uint8_t> record) {
  const int tables = record[kQuantTablesAt];
  const size_t value_bytes = record[kQuantBytesAt];
  if (tables < 1 || tables > grid_.components || value_bytes < 1 || value_bytes > 2)
    return "bad quantisation tables";
  const size_t quant_at = kComponentsAt + grid_.components * kComponentEntryBytes;
  const size_t quant_end = quant_at + 64 * value_bytes * tables;
  if (record.size() < quant_end) return "record cut short";
  for (int c = 0; c < grid_.components; ++c) {
    const uint8_t* entry = record.data() + kComponentsAt + c * kComponentEntryBytes;
    grid_.factors[c] = {entry[kFactorsAt] >> 4, entry[kFactorsAt] & 15};
    TileComponent& component = component_[c];
    component.dc_minimum = number_at<int16_t>(entry + kDcMinimumAt);
    component.dc_minimum_bits = entry[kDcMinimumBitsAt];
    if (component.dc_minimum_bits > kMaxDcWidth) return "bad range of DC coefficients";
    if (entry[kQuantIndexAt] >= tables) return "missing quantisation table";
    const uint8_t* quant = record.data() + quant_at + 64 * value_bytes * entry[kQuantIndexAt];
    for (int i = 0; i < 64; ++i)
      component.quant[i] = value_bytes == 1 ? quant[i] : number_at<uint16_t>(quant + 2 * i);
  }
  if (!are_factors_usable(grid_)) return "bad sampling factors";
  lengths_ = record.data() + quant_end;
  return nullptr;
}

const char* TileImage::parse(std::span<const uint8_t> record) {
  if (record.size() < kComponentsAt + kComponentEntryBytes) return "record cut short";
  if (record[kVersionAt] != kVersion) return "unknown version of the record";
  if (record[kColourAt] > static_cast<int>(Colour::rgb)) return "unknown colour space";
  colour_ = static_cast<Colour>(record[kColourAt]);
  height_ = number_at<uint16_t>(record.data() + kHeightAt);
  width_ = number_at<uint16_t>(record.data() + kWidthAt);
  if (height_ == 0 || width_ == 0) return "image without pixels";
  grid_.components = colour_ == Colour::gray ? 1 : 3;
  if (const char* problem = parse_components(record)) return problem;

  const int mcu_height = 8 * grid_.factors[0].vertical, mcu_width = 8 * grid_.factors[0].horizontal;
  grid_.mcu_rows = (height_ + mcu_height - 1) / mcu_height;
  grid_.mcu_columns = (width_ + mcu_width - 1) / mcu_width;
  grid_.tile_mcu_rows = record[kTileRowsAt];
  grid_.tile_mcu_columns = record[kTileColumnsAt];
  const int mcus = grid_.tile_mcu_rows * grid_.tile_mcu_columns;
  if (mcus < 1 ||
      mcus * grid_.factors[0].vertical * grid_.factors[0].horizontal > kMaxComponentBlocks)
    return "bad tile size";

  const size_t tiles = size_t{1} * grid_.rows() * grid_.columns();
  const uint64_t tile_bytes = number_at<uint32_t>(record.data() + kTileBytesAt);
  const uint64_t restore_bytes = number_at<uint32_t>(record.data() + kRestoreBytesAt);
  const uint64_t tiles_at = (lengths_ - record.data()) + kTileLengthBytes * tiles;
  if (record.size() < tiles_at + tile_bytes + std::max<uint64_t>(restore_bytes, kSlackBytes))
    return "record cut short";
  if (sum_of_lengths(lengths_, tiles) != tile_bytes) return kBadLengths;
  record_ = record;
  tiles_ = record.data() + tiles_at;
  tiles_end_ = tiles_ + tile_bytes;
  restore_ = record.subspan(tiles_at + tile_bytes, restore_bytes);
  return nullptr;
}

const uint8_t* TileImage::tile_row(int row) const {
  const uint64_t before = sum_of_lengths(lengths_, size_t{1} * row * grid_.columns());
  return tiles_ + std::min<uint64_t>(before, tiles_end_ - tiles_);
}

}  // namespace penstock
