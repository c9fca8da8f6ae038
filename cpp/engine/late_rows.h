// The final pass of a sample's finished image, put off so that it can go on beside other work.
#pragma once

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/final_pass/row_writer.h"
#include "kernels/output.h"

namespace penstock {

/// Writing a batch slot waits for memory, not for the core; decoding is the other way round. So a
/// sample whose effects need its whole image at once is written row by row while the next sample
/// is decoded: `begin`, `step` whenever there is something else to do, `finish`.
class LateRows final : public SideWork {
 public:
  bool is_pending() const { return next_row_ < image_.height; }

  /// Takes `memory`, in which the image lies, and gives its own for it. Requires that nothing is
  /// pending.
  void begin(const Output& output, const PlanarTarget& image, Buffer& memory);

  /// Writes a row, if there is one left.
  void step() override;

  /// Writes what is left.
  void finish();

 private:
  RowWriter writer_;
  PlanarTarget image_;
  Buffer memory_;
  int next_row_ = 0;
};

}  // namespace penstock
