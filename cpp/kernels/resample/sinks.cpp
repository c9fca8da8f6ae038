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

void VerticalFirst::begin() {
  const Span& span = job_.columns.taps.span;
  in_columns_ = round_up(span.end - span.begin, kColumnStep);
  out_columns_ = round_up(job_.columns.taps.count, kColumnStep);
  next_output_ = 0;
  waiting_ = 0;
  job_.ring.begin(job_.rows.taps.max_quads, in_columns_ * job_.channels);

  // Behind the waiting rows: one woven group of results, then that group as plain rows.
  waiting_bytes_ = round_up(in_columns_ * job_.channels, kColumnBlock) + kRowSlack;
  const size_t plain_bytes = round_up(out_columns_ * job_.channels, kColumnBlock) + kRowSlack;
  const size_t woven_bytes = plain_bytes * kQuad;
  job_.finished.reserve(kQuad * (waiting_bytes_ + plain_bytes) + woven_bytes);
}

void VerticalFirst::take(const PlanarView& rows, int first_row) {
  for (int y = 0; y < rows.height && next_output_ < job_.output_rows(); y += kQuad) {
    const int index = (first_row + y) / kQuad;
    if (index < job_.first_group(next_output_)) continue;
    uint8_t* group = job_.ring.group(index);
    for (int c = 0; c < job_.channels; ++c)
      job_.kernels->weave(group + static_cast<size_t>(c) * in_columns_ * kQuad,
                          RowQuad(rows, c, y).row, rows.width);
    combine_ready_rows(index + 1);
  }
}

void VerticalFirst::combine_ready_rows(int groups_done) {
  for (; next_output_ < job_.output_rows() && job_.end_group(next_output_) <= groups_done;
       ++next_output_) {
    const uint8_t* const* groups =
        job_.ring.groups(job_.first_group(next_output_), job_.rows.taps.quads[next_output_]);
    job_.kernels->vertical(waiting_row(waiting_++), groups, job_.rows, next_output_,
                           in_columns_ * job_.channels);
    if (waiting_ == kQuad || next_output_ + 1 == job_.output_rows()) emit_waiting_rows();
  }
  if (next_output_ == job_.output_rows()) job_.writer.finish();
}

void VerticalFirst::emit_waiting_rows() {
  uint8_t* woven = waiting_row(kQuad);
  const size_t plain_bytes = round_up(out_columns_ * job_.channels, kColumnBlock) + kRowSlack;
  uint8_t* plain = woven + plain_bytes * kQuad;
  for (int c = 0; c < job_.channels; ++c) {
    const uint8_t* source[kQuad];
    for (int r = 0; r < kQuad; ++r)
      source[r] = waiting_row(r < waiting_ ? r : 0) + static_cast<size_t>(c) * in_columns_;
    job_.kernels->horizontal(woven + static_cast<size_t>(c) * out_columns_ * kQuad, source,
                             job_.columns);
  }
  uint8_t* target[kQuad];
  for (int r = 0; r < kQuad; ++r) target[r] = plain + r * plain_bytes;
  job_.kernels->unweave(target, woven, out_columns_ * job_.channels);

  const int first = next_output_ + 1 - waiting_;
  for (int r = 0; r < waiting_; ++r) {
    const uint8_t* row = target[r];
    const uint8_t* const planes[3] = {row, row + out_columns_, row + 2 * out_columns_};
    job_.writer.write(job_.target_row(first + r), planes);
  }
  waiting_ = 0;
}

}  // namespace penstock
