// Where each pixel of a moved mask comes from. Masks are never mixed, only looked up.
#pragma once

#include <cstdint>
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

}  // namespace penstock
