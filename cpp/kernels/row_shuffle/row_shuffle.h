// Moving bytes within and between rows: interleave, deinterleave, mirror, shift.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"
#include "base/image.h"

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
  /// Row `out_y` of `out`: pixel x is pixel x + by of row `in_y`, which may be no row of `in`;
  /// `fill` where there is no such pixel. Reads no other pixels. A gray `in` has the same row for
  /// all channels.
  void (*shift)(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y, int64_t by,
                const uint8_t (&fill)[3]);
  /// Copies a row, without what a call of memcpy costs, and writes nothing past its end.
  void (*copy)(uint8_t* target, const uint8_t* source, size_t bytes);
  /// Stores whole cache lines past the cache. The caller owes a store fence.
  void (*stream)(uint8_t* target, const uint8_t* source, size_t bytes);
};

PENSTOCK_VARIANTS(extern const RowShuffle row_shuffle)

}  // namespace penstock
