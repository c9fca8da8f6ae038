// Writes the entropy-coded data of one scan, as the common encoders write it.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/coefficient_image.h"
#include "codec/jpeg_header.h"
#include "codec/restore/growing_file.h"
#include "codec/restore/scan.h"

namespace penstock {

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
