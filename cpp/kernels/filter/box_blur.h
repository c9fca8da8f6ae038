// Pillow's blurs: the mean over a box of any width, once (ImageFilter.BoxBlur) or three times over
// (ImageFilter.GaussianBlur), to the bit.
#pragma once

#include "base/buffer.h"
#include "base/dispatch.h"
#include "base/image.h"

namespace penstock {

/// Of larger boxes, sums do not fit the 16 bits that they have here.
inline constexpr int kLargestBoxRadius = 63;

/// GaussianBlur's.
inline constexpr int kMostBoxPasses = 3;

/// A box reaches this far to either side, in pixels and fractions of them; 0 leaves the direction
/// as it is. Radii are at least 0 and below kLargestBoxRadius + 1; there is at least one pass.
struct BoxBlurSpec {
  float radius_across = 0;
  float radius_down = 0;
  int passes = 1;
};

/// How much the pixels of a box count, in parts of 2^24.
struct BoxWeights {
  int radius;       // of whole pixels
  uint32_t inside;  // for those
  uint32_t ends;    // for the two beyond, of which the box covers a part
};

/// Memory that a worker keeps between images.
struct BoxBlurScratch {
  Buffer rows;
  Buffer rings;
};

/// All passes across and then all passes down, each rounded to whole levels; beyond an edge, its
/// last pixel is repeated. `in` and `out` are of one shape and do not overlap. The rows of `in` are
/// read, and those of `out` written, up to kRowSlack bytes beyond their end.
void box_blur(const PlanarTarget& out, const PlanarView& in, const BoxBlurSpec& spec,
              BoxBlurScratch& scratch);

/// Rows are done in whole blocks of this many, so they need room for them.
inline constexpr int kBoxBlock = 64;

/// A row of pixels at a time, as 16-bit numbers.
struct BoxRows {
  /// out[x] = the mean of taps[0 .. 2 * radius + 2][x], of which the first and the last are ends.
  void (*mean)(uint16_t* out, const uint16_t* const* taps, const BoxWeights& weights, int width);
  /// The same from the sums of what is inside, and both ends.
  void (*mean_of_sums)(uint16_t* out, const uint16_t* sums, const uint16_t* first,
                       const uint16_t* last, const BoxWeights& weights, int width);
  /// Adds a row to sums, and takes another one away.
  void (*slide)(uint16_t* sums, const uint16_t* add, const uint16_t* remove, int width);
  void (*widen)(uint16_t* out, const uint8_t* in, int width);
  void (*narrow)(uint8_t* out, const uint16_t* in, int width);
};

PENSTOCK_VARIANTS(extern const BoxRows box_rows)

}  // namespace penstock
