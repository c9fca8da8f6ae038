// Writes the record of a `dct` image; docs/format-tiles.md is its specification.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/coefficient_image.h"

namespace penstock {

/// Replaces `record` by the whole record: header, coefficient tiles, the `restore` section as it is
/// given, and padding. Returns nullptr, or why the format cannot hold the image.
const char* encode_tiles(std::vector<uint8_t>& record, const CoefficientImage& image,
                         std::span<const uint8_t> restore = {});

}  // namespace penstock
