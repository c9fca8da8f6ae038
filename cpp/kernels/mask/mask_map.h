// Where each pixel of a moved mask comes from. Masks are never mixed, only looked up.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace penstock {

/// In a map: from outside the source.
inline constexpr int32_t kMaskOutside = -1;

/// For each pixel of a mask of height x width, the pixel of the source that is copied to it.
/// If `pixels` is empty, pixel (y, x) comes from row rows[y] and column columns[x], and from
/// outside if either is kMaskOutside. Otherwise pixels[y * width + x] counts the source's pixels
/// row by row.
struct MaskMap {
  int in_height = 0;
  int in_width = 0;
  int height = 0;
  int width = 0;
  std::span<const int32_t> rows;
  std::span<const int32_t> columns;
  std::span<const int32_t> pixels;
};

// A mask of bytes or 16-bit numbers, brought to where a map says.

/// Fills `out` (map.height x map.width) from `in` (map.in_height x map.in_width), both row by row
/// without gaps; what comes from outside becomes `fill`.
template <class Value>
void gather_mask(Value* out, const Value* in, const MaskMap& map, Value fill) {
  const auto width = static_cast<size_t>(map.width);
  if (!map.pixels.empty()) {
    for (size_t i = 0; i < map.pixels.size(); ++i)
      out[i] = map.pixels[i] == kMaskOutside ? fill : in[map.pixels[i]];
    return;
  }
  for (size_t y = 0; y < map.rows.size(); ++y, out += width) {
    const int32_t row = map.rows[y];
    if (y > 0 && row == map.rows[y - 1]) {
      std::memcpy(out, out - width, width * sizeof(Value));
      continue;
    }
    const Value* source =
        in + static_cast<size_t>(row == kMaskOutside ? 0 : row) * static_cast<size_t>(map.in_width);
    for (size_t x = 0; x < width; ++x) {
      const int32_t column = row == kMaskOutside ? kMaskOutside : map.columns[x];
      out[x] = column == kMaskOutside ? fill : source[column];
    }
  }
}

}  // namespace penstock
