// The quantised coefficients of a whole JPEG, as it stores them.
#pragma once

#include <span>

#include "codec/coefficient_image.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"

namespace penstock {

/// Requires Route::baseline or Route::libjpeg. With any other status than `ok` the image must not
/// be used: `irregular` if a CoefficientImage cannot stand for the file, `warned` if libjpeg
/// repaired something, `failed` if it gave up.
DecodeResult read_coefficients(CoefficientImage& image, std::span<const uint8_t> bytes,
                               const JpegHeader& header, DecodeScratch& scratch);

}  // namespace penstock
