// Pixels of a packed file that are stored as a zlib stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/buffer.h"

struct z_stream_s;  // zlib's z_stream

namespace penstock {

/// The size of an image of interleaved RGB pixels, and how many of its rows are needed.
struct RowsWanted {
  int height;
  int width;
  int rows;  // the first ones: nothing in the middle of a stream can be read without them
};

/// Inflates images one after the other, with memory that it keeps.
class PixelInflater {
 public:
  PixelInflater();
  ~PixelInflater();
  PixelInflater(const PixelInflater&) = delete;
  PixelInflater& operator=(const PixelInflater&) = delete;

  /// Makes `pixels()` the wanted rows. Returns what is wrong with the stream, or null; where all
  /// rows are wanted, it must have no pixels more.
  const char* inflate(std::span<const uint8_t> stream, const RowsWanted& wanted);

  /// Row after row, without a gap.
  const uint8_t* pixels() const { return memory_.data(); }

  /// Gives the memory of a very large image back: few others will need as much.
  void forget_large();

 private:
  std::unique_ptr<z_stream_s> stream_;  // null until it is needed
  Buffer memory_;
};

}  // namespace penstock
