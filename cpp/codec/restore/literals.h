// The literals of a JPEG: all its bytes outside entropy-coded data, that is markers, segments and
// what follows the end of the image.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/coefficient_image.h"
#include "codec/restore/encode_scan.h"

namespace penstock {

/// Replaces `literals` by those of `file`. Returns nullptr, or what is wrong with the file.
const char* take_literals(std::vector<uint8_t>& literals, std::span<const uint8_t> file);

/// Writes the file that has these literals and coefficients. Nothing is believed of the literals:
/// returns nullptr, or what is wrong with them, or what does not fit.
const char* write_file(GrowingFile& file, std::span<const uint8_t> literals,
                       const CoefficientImage& image, bool pad_with_ones, ScanScratch& scratch);

/// Replaces `plain` by literals of a file with one scan, standard codes and the same pixels; other
/// segments and what follows the image are kept. Returns nullptr, or why that cannot be.
const char* make_plain_literals(std::vector<uint8_t>& plain, std::span<const uint8_t> literals,
                                const CoefficientImage& image, const JpegHeader& header);

}  // namespace penstock
