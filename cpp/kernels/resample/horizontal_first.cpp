#include "kernels/resample/sinks.h"

namespace penstock {

void HorizontalFirst::begin() {
  columns_ = round_up(job_.columns.taps.count, kColumnStep);
  next_output_ = 0;
  job_.ring.begin(job_.rows.taps.max_quads, columns_ * job_.channels);
  job_.finished.reserve(round_up(columns_ * job_.channels, kColumnBlock) + kRowSlack);
}

void HorizontalFirst::take(const PlanarView& rows, int first_row) {
  for (int y = 0; y < rows.height && next_output_ < job_.output_rows(); y += kQuad) {
    const int index = (first_row + y) / kQuad;
    if (index < job_.first_group(next_output_)) continue;
    uint8_t* group = job_.ring.group(index);
    for (int c = 0; c < job_.channels; ++c)
      job_.kernels->horizontal(group + static_cast<size_t>(c) * columns_ * kQuad,
                               RowQuad(rows, c, y).row, job_.columns);
    emit_ready_rows(index + 1);
  }
}

void HorizontalFirst::emit_ready_rows(int groups_done) {
  uint8_t* row = job_.finished.data();
  const uint8_t* const planes[3] = {row, row + columns_, row + 2 * columns_};
  for (; next_output_ < job_.output_rows() && job_.end_group(next_output_) <= groups_done;
       ++next_output_) {
    const uint8_t* const* groups =
        job_.ring.groups(job_.first_group(next_output_), job_.rows.taps.quads[next_output_]);
    job_.kernels->vertical(row, groups, job_.rows, next_output_, columns_ * job_.channels);
    job_.writer.write(job_.target_row(next_output_), planes);
  }
  if (next_output_ == job_.output_rows()) job_.writer.finish();
}

}  // namespace penstock
