#include "kernels/resample.h"

#include "kernels/resample/opencv_area.h"
#include "kernels/resample/opencv_linear.h"
#include "kernels/resample/sinks.h"

namespace penstock {
namespace {

SourceBox box_of(const ResizeSpec& spec) {
  const SourceBox whole{0, 0, static_cast<float>(spec.in_height),
                        static_cast<float>(spec.in_width)};
  return spec.box.value_or(whole);
}

bool is_area(const ResizeSpec& spec) {
  return spec.weights == Weights::opencv && spec.filter == Filter::box &&
         spec.out_height <= spec.in_height && spec.out_width <= spec.in_width;
}

Axis column_axis(const ResizeSpec& spec) {
  const SourceBox box = box_of(spec);
  return {spec.in_width,    box.left,          box.right,   spec.out_width,
          spec.window.left, spec.window.width, spec.filter, spec.flip_horizontal,
          spec.weights,     is_area(spec)};
}

// Mirroring from top to bottom is left to the addresses of the output rows.
Axis row_axis(const ResizeSpec& spec) {
  const SourceBox box = box_of(spec);
  return {spec.in_height,     box.top,     box.bottom, spec.out_height, spec.window.top,
          spec.window.height, spec.filter, false,      spec.weights,    is_area(spec)};
}

void prepare_tables(ResampleJob& job, const TableKey& key) {
  if (job.tables_are_for == key) return;
  job.tables_are_for = {};  // whatever happens below, half-made tables are for nobody
  key.kernels->prepare_columns(job.columns, job.column_taps.build(key.columns, Alignment::sample));
  key.kernels->prepare_rows(job.rows, job.row_taps.build(key.rows, Alignment::quad));
  job.tables_are_for = key;
}

}  // namespace

struct ResampleState {
  ResampleJob job;
  HorizontalFirst horizontal_first{job};
  VerticalFirst vertical_first{job};
  OpencvLinear opencv_linear;
  OpencvArea opencv_area;
};

Region needed_input(const ResizeSpec& spec) {
  const Span rows = needed_span(row_axis(spec));
  const Span columns = needed_span(column_axis(spec));
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

RowSink& begin_resample(ResampleScratch& scratch, const ResizeSpec& spec, const Output& output) {
  ResampleState& state = scratch.state();
  if (is_area(spec)) {
    state.opencv_area.begin(column_axis(spec), row_axis(spec), spec, output);
    return state.opencv_area;
  }
  if (spec.weights == Weights::opencv && spec.filter != Filter::nearest) {
    state.opencv_linear.begin(column_axis(spec), row_axis(spec), spec, output);
    return state.opencv_linear;
  }
  ResampleJob& job = state.job;
  job.kernels = &PENSTOCK_PICK(row_kernels);
  job.channels = spec.in_channels;
  job.flip_vertical = spec.flip_vertical;
  prepare_tables(job, {job.kernels, column_axis(spec), row_axis(spec)});
  job.writer.begin(output, spec.in_channels);
  if (spec.vertical_first) {
    state.vertical_first.begin();
    return state.vertical_first;
  }
  state.horizontal_first.begin();
  return state.horizontal_first;
}

}  // namespace penstock
