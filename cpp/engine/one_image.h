// One image that somebody holds: a program runs on it in the calling thread, from memory to memory.
#pragma once

#include "engine/program.h"
#include "engine/run_sample.h"
#include "kernels/colour/lut.h"
#include "kernels/output.h"
#include "kernels/resample.h"

namespace penstock {

/// Where the pixels of an image lie that is not ours. Strides are in bytes; `plane_stride` is for
/// Layout::chw. Gray images have one channel and Layout::chw.
struct ForeignPixels {
  uint8_t* data = nullptr;
  ptrdiff_t row_stride = 0;
  ptrdiff_t plane_stride = 0;
  int height = 0;
  int width = 0;
  int channels = 3;
  Layout layout = Layout::chw;
};

/// Runs the program on `source`, into `output`. Requires that `output` has the size that the
/// program gives, that the two do not overlap, and that `output` has three channels wherever the
/// result has colour.
void run_on_one(const Output& output, const ForeignPixels& source, const Program& program,
                WorkerScratch& scratch);

/// Resizes `source` into `output`, which has as many channels, with torch's weights.
void resize_one_like_torch(const Output& output, const ForeignPixels& source, Filter filter,
                           bool antialias, WorkerScratch& scratch);

/// Writes to `output` what becomes of the levels of `source`, of the same size and channels.
void look_up_on_one(const Output& output, const ForeignPixels& source, const Lut& table,
                    WorkerScratch& scratch);

}  // namespace penstock
