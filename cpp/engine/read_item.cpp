#include "engine/read_item.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/read_file.h"

namespace penstock {
namespace {

void read_header(Item& item) {
  item.header = read_jpeg_header(item.encoded);
  item.height = item.header.height;
  item.width = item.header.width;
}

/// The image must be the one that the index promised, for steps were made for its size.
std::string other_size(int height, int width, int said_height, int said_width) {
  return "is " + std::to_string(height) + "x" + std::to_string(width) + ", but the index says " +
         std::to_string(said_height) + "x" + std::to_string(said_width);
}

/// The tiles that rows [top, top + height) of the image depend on, upsampling included.
std::span<const uint8_t> tiles_of(const TileImage& image, const Region& rows) {
  const TileGrid& grid = image.grid();
  const int unit = 8 * grid.factors[0].vertical;
  const int tile_height = unit * grid.tile_mcu_rows;
  const int first = std::max(0, rows.top - unit) / tile_height;
  const int last = std::min(grid.rows() - 1, (rows.top + rows.height + unit) / tile_height);
  const uint8_t* begin = image.tile_row(first);
  return {begin, std::max(begin, image.tile_row(last + 1))};
}

std::string read_tiles(Item& item, const Region& rows, int height, int width) {
  // Header and table first, to learn which tiles; a table beyond this takes its page faults here.
  constexpr size_t kUsualTable = 4096;
  const auto start = item.encoded.first(std::min(item.encoded.size(), kUsualTable));
  if (std::string problem = make_resident(start); !problem.empty()) return problem;
  if (const char* problem = item.tiles.parse(item.encoded)) return problem;
  if (item.tiles.height() != height || item.tiles.width() != width)
    return other_size(item.tiles.height(), item.tiles.width(), height, width);
  return make_resident(tiles_of(item.tiles, rows));
}

std::string read_jpeg(Item& item, int height, int width) {
  if (std::string problem = make_resident(item.encoded); !problem.empty()) return problem;
  read_header(item);
  if (item.header.route == Route::pillow || (item.height == height && item.width == width))
    return {};
  return other_size(item.height, item.width, height, width);
}

std::string read_raw(Item& item, const Region& rows, int height, int width) {
  const auto row_bytes = size_t{3} * static_cast<size_t>(width);
  if (item.encoded.size() < row_bytes * static_cast<size_t>(height))
    return "has too few bytes for its size";
  item.rgb = item.encoded.data();
  item.rgb_stride = static_cast<ptrdiff_t>(row_bytes);
  return make_resident(item.encoded.subspan(row_bytes * static_cast<size_t>(rows.top),
                                            row_bytes * static_cast<size_t>(rows.height)));
}

}  // namespace

void read_record(Item& item, const Region& rows) {
  const int height = item.height, width = item.width;
  switch (item.storage) {
    case Storage::jpeg:
      item.problem = read_jpeg(item, height, width);
      return;
    case Storage::dct:
      item.problem = read_tiles(item, rows, height, width);
      return;
    case Storage::raw:
      item.problem = read_raw(item, rows, height, width);
      return;
    case Storage::deflated:
      item.header = JpegHeader{};
      item.header.reason = "compressed pixels";
      return;
  }
  item.problem = "is stored in a way this version does not read";
}

void read_file(Item& item) {
  ReadResult read = read_jpeg_file(item.bytes, item.path);
  item.problem = std::move(read.problem);
  if (!item.problem.empty()) return;
  if (!read.is_jpeg) {
    item.header = JpegHeader{};
    item.header.reason = "not a JPEG";
    return;
  }
  item.encoded = {item.bytes.data(), read.size};
  read_header(item);
}

}  // namespace penstock
