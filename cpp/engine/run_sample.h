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
#include "engine/program.h"
#include "kernels/copy_rows.h"
#include "kernels/final_pass/row_writer.h"
#include "kernels/output.h"
#include "kernels/pad.h"
#include "kernels/resample.h"

namespace penstock {

/// The final pass of a sample's finished image, put off so that it can run beside other work.
///
/// Writing a batch slot waits for memory, not for the core; decoding is the other way round. So a
/// sample whose effects need its whole image at once is written a few rows at a time while the next
/// sample is decoded: `begin`, `step` whenever there is something else to do, `finish`.
class LateRows final : public SideWork {
 public:
  bool is_pending() const { return next_row_ < image_.height; }

  /// Swaps `memory`, in which the image lies, with its own. Requires that nothing is pending.
  void begin(const Output& output, const PlanarTarget& image, Buffer& memory);

  /// Writes about as many rows, if there are some left.
  void step(int rows) override;

  /// Writes what is left.
  void finish();

 private:
  void write(int rows);

  RowWriter writer_;
  PlanarTarget image_;
  Buffer memory_;
  LevelMap levels_;
  int next_row_ = 0;
  int owed_rows_ = 0;  // by steps
};

/// Everything a worker keeps between samples.
struct WorkerScratch {
  InputScratch input;
  ResampleScratch resample;
  CopyScratch copy;
  EffectScratch effects;
  LevelMap levels;    // for the final pass
  Buffer working[2];  // results of steps that are not the last
  BorderSink border;
  Buffer unpadded;
  Buffer padded;
  Buffer gray;    // rows on the way from the decoder
  Buffer shared;  // the region that several programs of a sample read
  LateRows late;  // of the sample before
};

/// Runs the program into `output`, which must have the size that the program gives. Meanwhile
/// writes what scratch.late holds of the sample before. If `late` is set to true, this sample's
/// rows are now in scratch.late and still have to be written; otherwise scratch.late is empty.
/// The result's message says why libjpeg decoded the image instead of our own decoder, if it did.
DecodeResult run_sample(bool& late, const Output& output, const SampleSource& source,
                        const Program& program, WorkerScratch& scratch);

/// The same with the pixels of `input`, which the program's first step reads.
DecodeResult run_program(bool& late, const Output& output, Input& input, const Program& program,
                         WorkerScratch& scratch);

/// What the program's first step reads of `input`, in pixels of the reduced image.
Region needed_region(const Program& program, const Input& input);

/// Makes `image` a copy of this region, in `memory`; meanwhile writes what scratch.late holds.
DecodeResult copy_region(PlanarTarget& image, Buffer& memory, Input& input, const Region& region,
                         WorkerScratch& scratch);

}  // namespace penstock
