// Values of tensors changed as torch changes them, operation by operation, in one pass.
//
// torch rounds every operation to float32. `add(other, alpha)` multiplies and adds with one
// rounding, on CPUs that can: these kernels do so on all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// What is done to each float by itself, with numbers a, b and c.
enum class ValueMap : int32_t {
  scale = 0,      // a x, kept within 0 and 1
  blend = 1,      // a x + b c, kept within 0 and 1
  solarize = 2,   // 1 - x from a on
  posterize = 3,  // the lower end of its part, where 0 to 1 has a parts of length b
  normalize = 4,  // (x - a) / b
};

struct MapNumbers {
  float a = 0;
  float b = 0;
  float c = 0;
};

/// The colours of pixels: colour c of pixel i is at first[c][i * step].
template <class T>
struct Colours {
  T* first[3] = {};
  ptrdiff_t step = 1;  // 1 or 3
};

/// Requires that target and source are the same memory, or do not overlap.
PENSTOCK_VARIANTS(void map_values(float* target, const float* source, size_t count, ValueMap map,
                                  const MapNumbers& numbers))

/// Gray, one value for each pixel. That of levels is cut to whole levels.
PENSTOCK_VARIANTS(void gray_of_floats(float* target, const Colours<const float>& source,
                                      size_t count))
PENSTOCK_VARIANTS(void gray_of_levels(float* target, const Colours<const uint8_t>& source,
                                      size_t count))
PENSTOCK_VARIANTS(void gray_levels(uint8_t* target, const Colours<const uint8_t>& source,
                                   size_t count))

/// factor * colour + rest * gray, kept within black and white.
PENSTOCK_VARIANTS(void saturate_floats(const Colours<float>& target,
                                       const Colours<const float>& source, size_t count,
                                       float factor, float rest))
PENSTOCK_VARIANTS(void saturate_levels(const Colours<uint8_t>& target,
                                       const Colours<const uint8_t>& source, size_t count,
                                       float factor, float rest))

/// All colours turned by a part of the circle, from -0.5 to 0.5.
PENSTOCK_VARIANTS(void turn_hue_of_floats(const Colours<float>& target,
                                          const Colours<const float>& source, size_t count,
                                          float turn))
PENSTOCK_VARIANTS(void turn_hue_of_levels(const Colours<uint8_t>& target,
                                          const Colours<const uint8_t>& source, size_t count,
                                          float turn))

/// The level that each fraction of white is nearest to, kept within 0 and 255; that of NaN is 0.
PENSTOCK_VARIANTS(void nearest_levels(uint8_t* target, const float* source, size_t count))

/// Maps the least of `count` > 0 values to 0 and the largest to 1; values that are all the same are
/// only kept within 0 and 1. Writes nothing and returns false if some value is not a number.
PENSTOCK_VARIANTS(bool stretch_plane(float* target, const float* source, size_t count))

}  // namespace penstock
