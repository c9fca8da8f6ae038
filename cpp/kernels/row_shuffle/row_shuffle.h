// Moving bytes within and between rows: interleave, deinterleave, mirror.
#pragma once

#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// Every kernel may read and write up to kRowSlack bytes past the end of its rows
/// (for three-byte pixels: 3 * kRowSlack past the end of the interleaved row).
/// Except: `deinterleave`, `deinterleave_rgbx` and `mirror` never read past the end of their
/// source, which may be the end of somebody's array, and `mirror` never reads before its start;
/// `interleave_rgbx` writes nothing past the end of its target, for the same reason.
struct RowShuffle {
  void (*interleave)(uint8_t* rgb, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                     int width);
  void (*deinterleave)(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgb, int width);
  void (*mirror)(uint8_t* target, const uint8_t* source, int width);
  /// Pixels of four bytes, as Pillow keeps them; the fourth is 255.
  void (*interleave_rgbx)(uint8_t* rgbx, const uint8_t* red, const uint8_t* green,
                          const uint8_t* blue, int width);
  void (*deinterleave_rgbx)(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgbx,
                            int width);
};

PENSTOCK_VARIANTS(extern const RowShuffle row_shuffle)

}  // namespace penstock
