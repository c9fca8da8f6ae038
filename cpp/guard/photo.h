// A picture that is as hard to code as a photo, the same on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/make_jpeg.h"

namespace penstock::guard {

/// Well-mixed bits of four numbers.
inline uint32_t mixed(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t bits = a * 0x9E3779B1u ^ b * 0x85EBCA77u ^ c * 0xC2B2AE3Du ^ d * 0x27D4EB2Fu;
  bits = (bits ^ bits >> 15) * 0x2C1B3C6Du;
  bits = (bits ^ bits >> 12) * 0x297A2D39u;
  return bits ^ bits >> 15;
}

/// Between the random levels, -128 to 127, of the four corners of a square of `side` pixels.
inline int smooth_level(int y, int x, int side, int channel) {
  const int row = y / side, column = x / side, down = y % side, right = x % side;
  const auto corner = [&](int i, int j) {
    return static_cast<int>(mixed(row + i, column + j, side, channel) & 255) - 128;
  };
  const int above = corner(0, 0) * (side - right) + corner(0, 1) * right;
  const int below = corner(1, 0) * (side - right) + corner(1, 1) * right;
  return (above * (side - down) + below * down) / (side * side);
}

/// Interleaved red, green and blue. Patterns of all sizes lie over each other, and the smaller a
/// pattern, the weaker it is; colours vary less than brightness. Whole numbers only, so that every
/// compiler makes the same levels.
inline std::vector<uint8_t> make_photo(int height, int width) {
  constexpr int kGrey = 3;
  constexpr int kDarkest = 10, kBrightest = 244;  // so that autocontrast has something to do
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t{3} * height * width);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int level[4] = {};
      for (int side = 128, weight = 200; side >= 1; side /= 2, weight = weight * 7 / 10) {
        level[kGrey] += smooth_level(y, x, side, kGrey) * weight;
        if (side >= 8)
          for (int c = 0; c < 3; ++c) level[c] += smooth_level(y, x, side, c) * weight / 3;
      }
      for (int c = 0; c < 3; ++c)
        pixels.push_back(static_cast<uint8_t>(
            std::clamp(128 + (level[kGrey] + level[c]) / 256, kDarkest, kBrightest)));
    }
  return pixels;
}

/// As cameras write it: half as many samples of colour each way.
inline std::vector<uint8_t> photo_file(int height, int width, bool progressive = false) {
  testing::JpegSpec spec;
  spec.height = height;
  spec.width = width;
  spec.horizontal[0] = spec.vertical[0] = 2;
  spec.quality = 95;
  spec.progressive = progressive;
  return testing::compress(spec, make_photo(height, width));
}

}  // namespace penstock::guard
