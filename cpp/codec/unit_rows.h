// From rows of units, as coefficients, to the rows of pixels of a region.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/frame.h"
#include "codec/jpeg_header.h"
#include "codec/reconstruct.h"
#include "codec/region_output.h"

namespace penstock {

/// The coefficients of a component's blocks in one row of units.
struct BlockRows {
  int16_t* first = nullptr;  // of the first block; the others of its row behind it
  size_t row_size = 0;       // elements from one row of blocks to the next
};

/// Gets a region's rows of units one after the other, from plan().first_unit_row on.
class UnitRows {
 public:
  /// With `luma_alone`, only the first component is looked at.
  UnitRows(RowSink& sink, const JpegHeader& header, const Region& region,
           const Reduction& reduction, bool luma_alone, RegionBuffers& buffers);

  const RegionPlan& plan() const { return plan_; }
  bool shows(int c) const { return c < shown_.components; }
  int blocks_across(int c) const { return plan_.stored_units() * header_.component[c].horizontal; }
  /// Elements of a row of blocks, filled up as the inverse DCT wants it.
  size_t row_size(int c) const;
  /// The zigzag position of the last coefficient that is looked at.
  int last_wanted(int c) const;

  /// Takes row `row` of units. Coefficients are zeroed.
  void take(int row, const BlockRows (&coefficients)[3]);

 private:
  const JpegHeader& header_;
  const Frame frame_;
  const Frame shown_;  // the components that are looked at
  const RegionPlan plan_;
  RegionOutput output_;
  IdctRow idct_row_[3] = {};
};

}  // namespace penstock
