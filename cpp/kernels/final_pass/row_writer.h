// Finished planar rows to their place in an output: layout, element, gray to three channels.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "kernels/final_pass/convert.h"
#include "kernels/output.h"
#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock {

/// Whether rows can be written as `past_cache` asks.
bool stores_past_cache(const Output& output);

class RowWriter {
 public:
  /// `in_channels` is 1 or 3; a gray row is repeated if the output has three channels.
  void begin(const Output& output, int in_channels);

  /// Writes row `y` from rows of output.width bytes, with kRowSlack more readable.
  /// A gray image uses given[0] only.
  void write(int y, const uint8_t* const given[3]);

  /// Makes everything written visible to whoever is told afterwards.
  void finish();

 private:
  void write_planar(uint8_t* row, const uint8_t* const planes[3]);
  void write_interleaved(uint8_t* row, const uint8_t* const planes[3]);

  Output output_;
  int in_channels_ = 0;
  bool past_cache_ = false;
  ConvertRow convert_ = nullptr;  // null for uint8
  const RowShuffle* shuffle_ = nullptr;
  Buffer pixels_;
};

}  // namespace penstock
