// The inner loops of our decoder of progressive JPEGs, in which each scan brings some bits of some
// coefficients: of those in a region the values are kept, of all others only what the bits of later
// scans depend on, namely which coefficients are not zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"
#include "codec/decode_mcus.h"
#include "codec/huffman.h"

namespace penstock {

/// The blocks of a component.
struct ProgressiveBlocks {
  int across = 0;  // blocks that scans of this component alone have
  int down = 0;
  uint64_t* nonzero = nullptr;  // of each of these: bit k for zigzag position k, but 0

  int16_t* values = nullptr;  // of the blocks in the region: zeroed at first, natural order
  size_t row_size = 0;        // elements from one row of blocks to the next
  int first_row = 0;
  int end_row = 0;
  int first_column = 0;
  int end_column = 0;

  /// The values of a block, or nullptr if it is not in the region.
  int16_t* at(int row, int column) const {
    if (row < first_row || row >= end_row || column < first_column || column >= end_column)
      return nullptr;
    return values + static_cast<size_t>(row - first_row) * row_size +
           static_cast<size_t>(column - first_column) * 64;
  }
};

/// A component as it takes part in a scan.
struct ScanComponent {
  const ProgressiveBlocks* blocks = nullptr;
  const DcTable* dc = nullptr;
  int horizontal = 1;  // blocks in a unit: 1 and 1 where the component is alone
  int vertical = 1;
  int dc_limit = 0;  // largest |DC| that the inverse DCT can take
};

struct ProgressiveScan {
  ScanComponent component[3];
  int components = 0;
  int units_across = 0;
  const SymbolTable* ac = nullptr;
  int first = 0;  // zigzag positions
  int last = 0;
  int low = 0;      // the lowest bit that is known after this scan
  int eob_run = 0;  // blocks that bring nothing new
};

/// Decodes the next `units` units of a scan, from number `first_unit` on; false if the data is not
/// what a correct encoder writes. Scans of other than first coefficients have one component, whose
/// blocks are the units.
using DecodeUnits = bool (*)(EntropyCursor& cursor, ProgressiveScan& scan, int64_t first_unit,
                             int64_t units);

struct ScanLoops {
  DecodeUnits dc_first;
  DecodeUnits dc_refine;
  DecodeUnits ac_first;
  DecodeUnits ac_refine;
};

PENSTOCK_NARROW_VARIANTS(extern const ScanLoops scan_loops)

}  // namespace penstock
