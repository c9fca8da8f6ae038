// Finished planar rows to their place in an output: layout, element, gray to three channels.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/final_pass/convert.h"
#include "kernels/final_pass/whole_lines.h"
#include "kernels/output.h"
#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock {

/// Whether rows can be written as `past_cache` asks.
bool stores_past_cache(const Output& output);

class RowWriter {
 public:
  /// `in_channels` is 1 or 3; a gray row is repeated if the output has three channels. What a
  /// placement leaves to its fill is written now, and the fill is gray if rows are.
  void begin(const Output& output, int in_channels);

  /// Writes row `y`, once, from rows of output.width bytes, with kRowSlack more readable.
  /// A gray image uses given[0] only.
  void write(int y, const uint8_t* const given[3]);

  /// Writes rows `y` and following ones, as readable as above.
  void write_rows(int y, const PlanarView& rows);

  /// To be called after the last row: writes what was kept until lines are whole, and makes
  /// everything visible to whoever is told afterwards.
  void finish();

 private:
  void put_fill(int y);
  void put_placed(int y, const PlanarView& rows);
  void put_here(int y, const PlanarView& rows);
  void put_mapped(int y, const PlanarView& rows);
  void put(int y, const uint8_t* red, const uint8_t* green, const uint8_t* blue, ptrdiff_t stride,
           int rows);
  void put_plane(uint8_t* target, int y, const uint8_t* source, int channel);
  void put_bytes(uint8_t* target, int y, const uint8_t* source, int channel);
  void put_interleaved(uint8_t* target, int y, const uint8_t* red, const uint8_t* green,
                       const uint8_t* blue);

  Output output_;  // if rows are placed, as large as the whole
  int in_channels_ = 0;
  int given_width_ = 0;  // of rows as they come
  bool past_cache_ = false;
  bool maps_apart_ = false;  // whether output_.levels is not for convert_
  RowsToConvert rows_{};
  const LevelMap* converted_ = nullptr;  // the levels, if they are for convert_
  ConvertRows convert_ = nullptr;        // null for uint8
  const RowShuffle* shuffle_ = nullptr;
  WholeLines lines_;  // of bytes that go past the cache
  Buffer pixels_;
  Buffer mapped_;
  Buffer placed_;
  PlanarTarget placed_row_;
};

}  // namespace penstock
