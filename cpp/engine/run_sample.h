// One sample: its source, its steps, its place in the batch.
#pragma once

#include <span>
#include <string>

#include "base/buffer.h"
#include "base/image.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "engine/effects.h"
#include "engine/input.h"
#include "engine/late_rows.h"
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
  EffectScratch effects;
  Buffer working[2];  // results of steps that are not the last
  Buffer unpadded;
  Buffer padded;
  Buffer gray;    // rows on the way from the decoder
  LateRows late;  // of the sample before
};

/// What is done to one sample.
struct Program {
  std::span<const Step> steps;      // at least one
  std::span<const Effect> effects;  // in the order of the steps they follow, finished ones last
};

/// The size an image of height x width has after the program.
/// Throws Error naming the step or effect that does not fit its input.
Region size_after(const Program& program, int height, int width);

/// Runs the program into `output`, which must have the size after it, and beside that writes
/// scratch.late. If `late` comes back as true, the output itself is written only by what is then
/// in scratch.late; otherwise nothing is left there.
/// The result's message tells why libjpeg was asked instead of our own decoder, if it was.
DecodeResult run_sample(bool& late, const Output& output, const SampleSource& source,
                        const Program& program, WorkerScratch& scratch);

}  // namespace penstock
