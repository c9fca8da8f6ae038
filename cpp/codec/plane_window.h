// The rows of one component that are in memory: those of the current unit row, and the few before
// it that pixels still wait for.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/buffer.h"
#include "base/image.h"
#include "codec/reconstruct.h"

namespace penstock {

class PlaneWindow {
 public:
  /// Most rows that can wait: a band's rest, and one that waits for the next chroma row.
  static constexpr int kMaxKept = kBandRows;

  /// `samples` gives the component's size and ratios. Each unit row brings `unit_rows` rows of
  /// `blocks` blocks, `block_width` samples wide, of which the first starts at sample (top, left).
  void begin(Buffer& storage, const SamplePlane& samples, int unit_rows, int blocks,
             int block_width, int top, int left) {
    const int padded_blocks = (blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup;
    samples_ = samples;
    samples_.stride = padded_blocks * block_width + 2 * kRowSlack;
    samples_.top = top;
    samples_.left = left;
    unit_rows_ = unit_rows;
    uint8_t* rows = storage.reserve(samples_.stride * (kMaxKept + unit_rows) + 2 * kRowSlack);
    unit_ = rows + kRowSlack + kMaxKept * samples_.stride;
    samples_.origin = unit_;
  }

  /// Where the current unit row's samples are written.
  uint8_t* unit() const { return unit_; }
  const SamplePlane& samples() const { return samples_; }

  /// Makes room for the next unit row, keeping the rows from `first_kept` (a component row) on.
  void advance(int first_kept) {
    const int end =
        samples_.top + static_cast<int>((unit_ - samples_.origin) / samples_.stride) + unit_rows_;
    const int kept = end - first_kept;
    assert(kept >= 0 && kept <= kMaxKept && first_kept >= samples_.top);
    uint8_t* target = unit_ - kept * samples_.stride;
    const uint8_t* source = samples_.origin + (first_kept - samples_.top) * samples_.stride;
    std::memmove(target, source, kept * samples_.stride);
    samples_.origin = target;
    samples_.top = first_kept;
  }

 private:
  SamplePlane samples_;
  uint8_t* unit_ = nullptr;
  int unit_rows_ = 0;
};

}  // namespace penstock
