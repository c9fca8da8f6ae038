// Bytes of tensors, changed as torch changes them: by a table of what becomes of each level, which
// is computed as torch computes it, operation by operation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tensor/values.h"

namespace penstock {

/// What becomes of each level.
struct LevelTable {
  alignas(64) uint8_t value[256];
};

/// Maps are those of floats, from 0 to 255 instead of 0 to 1; `posterize` and `normalize` are not
/// for levels, and leave them as they are.
LevelTable level_table(ValueMap map, const MapNumbers& numbers);

/// Whether a blend gives the same levels if it rounds once as if it rounds twice. torch does the
/// one where values fill its vectors, and may do the other where they do not.
bool is_blend_sure(const MapNumbers& numbers);

/// To fractions of white by `curve`, times gain; 1 stands for none, and does not cut either.
LevelTable curve_table(const float* curve, float gain);

/// Maps `least` to 0 and `most` to 255; if they are the same, levels stay.
LevelTable stretch_table(uint8_t least, uint8_t most);

/// What becomes of some floats, each found by the level that it is nearest to.
struct FractionCurve {
  static constexpr int kWays = 2;  // in which fractions may have been rounded
  struct Known {
    uint32_t bits;
    float value;
  };
  Known known[kWays][256];

  /// For each way, 256 fractions, and what becomes of them.
  FractionCurve(const float* fractions, const float* values);
};

/// Looks `count` floats up; false, and some may have been written, if one of them is not known.
bool look_up_fractions(float* target, const float* source, size_t count,
                       const FractionCurve& curve);

/// Looks `count` levels up, in memory without slack. Requires that target and source are the same,
/// or do not overlap.
void look_up_levels(uint8_t* target, const uint8_t* source, size_t count, const LevelTable& table);

/// Requires count > 0.
void find_extremes(uint8_t& least, uint8_t& most, const uint8_t* source, size_t count);

/// Up to so many pixels, gray levels add up to the same float in any order.
inline constexpr size_t kMostMeanPixels = (size_t{1} << 24) / 255;

/// The mean of the gray of colours, each cut to whole levels, as a float.
/// Requires 0 < pixels <= kMostMeanPixels.
float mean_gray(const Colours<const uint8_t>& source, size_t pixels);
/// The same for pixels of one channel.
float mean_level(const uint8_t* source, size_t pixels);

}  // namespace penstock
