// Writes the entropy-coded data of one scan, as the common encoders write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/jpeg_header.h"
#include "codec/restore/scan.h"
#include "tiles/coefficient_image.h"

namespace penstock {

/// A file being written. Only the first `used` bytes of `bytes` are part of it: a vector that
/// grows by its size would be cleared again and again.
struct GrowingFile {
  std::vector<uint8_t>& bytes;
  size_t used = 0;

  /// Room for `count` more bytes, which begin where the returned pointer points.
  uint8_t* reserve(size_t count) {
    if (bytes.size() - used < count) bytes.resize(used + count + bytes.size() / 2);
    return bytes.data() + used;
  }
};

/// The codes and the restart interval are those of `tables`; `masks` is recycled scratch. Segments
/// are padded to whole bytes with ones or with zeros. Returns nullptr, or why these coefficients
/// cannot be written in this way; requires the image to have the frame that the scan refers to.
const char* encode_scan(GrowingFile& file, const CoefficientImage& image, const Scan& scan,
                        const JpegHeader& tables, bool pad_with_ones, std::vector<uint64_t>& masks);

}  // namespace penstock
