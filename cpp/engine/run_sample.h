// One sample: its source, its steps, its place in the batch.
#pragma once

#include <span>
#include <string>

#include "base/buffer.h"
#include "base/image.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "engine/input.h"
#include "engine/program.h"
#include "kernels/copy_rows.h"
#include "kernels/output.h"
#include "kernels/resample.h"

namespace penstock {

/// Everything a worker keeps between samples.
struct WorkerScratch {
  InputScratch input;
  ResampleScratch resample;
  CopyScratch copy;
  Buffer working[2];  // results of steps that are not the last
  Buffer unpadded;
  Buffer padded;
};

/// The size an image of height x width has after `steps`.
/// Throws Error naming the step if one does not fit its input.
Region size_after(std::span<const Step> steps, int height, int width);

/// Runs the steps into `output`, which must have the size after them.
/// The result's message tells why libjpeg was asked instead of our own decoder, if it was.
DecodeResult run_sample(const Output& output, const SampleSource& source,
                        std::span<const Step> steps, WorkerScratch& scratch);

}  // namespace penstock
