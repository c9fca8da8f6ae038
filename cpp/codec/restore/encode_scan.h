// Writes the entropy-coded data of one scan, as the common encoders write it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "codec/coefficient_image.h"
#include "codec/jpeg_header.h"
#include "codec/restore/scan.h"

namespace penstock {

// A file that is being written.

/// Only the first `used` bytes of `bytes` are part of the file: a vector that shrinks and grows
/// would be cleared again and again.
struct GrowingFile {
  std::vector<uint8_t>& bytes;
  size_t used = 0;

  /// Room for `count` more bytes, which begin where the returned pointer points.
  uint8_t* reserve(size_t count) {
    if (bytes.size() - used < count) bytes.resize(used + count + bytes.size() / 2);
    return bytes.data() + used;
  }

  void append(std::span<const uint8_t> more) {
    std::copy(more.begin(), more.end(), reserve(more.size()));
    used += more.size();
  }

  void append_marker(uint8_t marker) {
    const uint8_t both[] = {0xFF, marker};
    append(both);
  }

  /// Entropy-coded data: a zero is stuffed behind each 0xFF.
  void append_stuffed(const uint8_t* from, const uint8_t* end) {
    uint8_t* target = reserve(2 * (end - from));
    while (from != end) {
      const auto* found = static_cast<const uint8_t*>(std::memchr(from, 0xFF, end - from));
      const uint8_t* plain_end = found != nullptr ? found + 1 : end;
      target = std::copy(from, plain_end, target);
      if (found != nullptr) *target++ = 0;
      from = plain_end;
    }
    used = target - bytes.data();
  }
};

/// Recycled memory of encode_scan.
struct ScanScratch {
  std::vector<uint8_t> unstuffed;
  std::vector<uint64_t> masks;
};

/// The codes and the restart interval are those of `tables`. Segments
/// are padded to whole bytes with ones or with zeros. Returns nullptr, or why these coefficients
/// cannot be written in this way; requires the image to have the frame that the scan refers to.
const char* encode_scan(GrowingFile& file, const CoefficientImage& image, const Scan& scan,
                        const JpegHeader& tables, bool pad_with_ones, ScanScratch& scratch);

}  // namespace penstock
