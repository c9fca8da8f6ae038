#include "codec/unit_rows.h"

#include <algorithm>

#include "codec/zigzag.h"

namespace penstock {
namespace {

Frame shown_of(Frame frame, bool luma_alone) {
  if (luma_alone) frame.components = 1;
  return frame;
}

}  // namespace

UnitRows::UnitRows(RowSink& sink, const JpegHeader& header, const Region& region,
                   const Reduction& reduction, bool luma_alone, RegionBuffers& buffers)
    : header_(header),
      frame_(make_frame(header, reduction)),
      shown_(shown_of(frame_, luma_alone)),
      plan_(plan_region(shown_, region)),
      output_(sink, shown_, region, {}, true, buffers) {
  for (int c = 0; c < shown_.components; ++c) {
    const FrameComponent& size = frame_.component[c];
    const int unit_rows = size.block_height * header.component[c].vertical;
    const int unit_columns = size.block_width * header.component[c].horizontal;
    idct_row_[c] = idct_row_to(size.block_height, size.block_width);
    output_.begin_component(c, unit_rows, blocks_across(c), plan_.first_unit_row * unit_rows,
                            plan_.first_unit_column * unit_columns);
  }
}

size_t UnitRows::row_size(int c) const {
  const int groups = (blocks_across(c) + kBlockGroup - 1) / kBlockGroup;
  return size_t{64} * kBlockGroup * static_cast<size_t>(groups);
}

int UnitRows::last_wanted(int c) const {
  const FrameComponent& size = frame_.component[c];
  return shows(c) ? last_zigzag_position(std::max(size.block_height, size.block_width)) : 0;
}

void UnitRows::take(int row, const BlockRows (&coefficients)[3]) {
  for (int c = 0; c < shown_.components; ++c) {
    const JpegComponent& component = header_.component[c];
    const ptrdiff_t stride = output_.stride(c);
    for (int y = 0; y < component.vertical; ++y)
      idct_row_[c](output_.strip(c) + y * frame_.component[c].block_height * stride, stride,
                   coefficients[c].first + static_cast<size_t>(y) * coefficients[c].row_size,
                   blocks_across(c), header_.quant[component.quant_table], c > 0);
  }
  if (row + 1 == plan_.end_unit_row)
    output_.finish_last_strip();
  else
    output_.finish_strip((row + 1) * frame_.unit_height - plan_.rows_below);
}

}  // namespace penstock
