// The two passes of a resize on four rows at a time, one variant per instruction set.
//
// Between the passes rows travel in groups: four rows woven column by column, so that the four
// bytes at 4 * x are the samples of column x from top to bottom. A quad of vertical taps is then
// one 32-bit word per column, just as a quad of horizontal taps is four neighbouring bytes of a
// row.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/dispatch.h"
#include "kernels/resample/taps.h"

namespace penstock {

/// Groups are padded to a multiple of this many columns.
inline constexpr int kColumnStep = 16;

/// Kernels work on up to this many columns at once: they may read and write groups and rows of
/// scratch up to the next multiple of it.
inline constexpr int kColumnBlock = 64;

/// Horizontal taps in the form a variant likes.
struct ColumnTable {
  Taps taps;
  int fetch = 0;   // how samples reach the lanes of a vector; the variant's own enum
  Buffer bases;    // first sample of each vector
  Buffer indices;  // where in the fetched bytes a lane finds its samples
  Buffer factors;  // coefficients, split into short factors
};

/// Vertical taps in the form a variant likes.
struct RowTable {
  Taps taps;
  Buffer factors;
};

struct RowKernels {
  void (*prepare_columns)(ColumnTable& table, const Taps& taps);
  void (*prepare_rows)(RowTable& table, const Taps& taps);

  /// Resizes four rows (of which kRowSlack bytes past the end are readable) into a group of
  /// round_up(taps.count, kColumnStep) columns.
  void (*horizontal)(uint8_t* group, const uint8_t* const rows[kQuad], const ColumnTable& table);

  /// Row `output` from the groups its taps lie in: groups[0] holds sample start[output].
  void (*vertical)(uint8_t* row, const uint8_t* const* groups, const RowTable& table, int output,
                   int columns);

  /// Weaves four rows (readable as above) into a group.
  void (*weave)(uint8_t* group, const uint8_t* const rows[kQuad], int columns);

  /// Takes a group apart again.
  void (*unweave)(uint8_t* const rows[kQuad], const uint8_t* group, int columns);
};

PENSTOCK_VARIANTS(extern const RowKernels row_kernels)

}  // namespace penstock
