// The tables that most JPEGs carry: the examples in the standard's annex K.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

/// Four DHT segments: DC 0, AC 0 (luma), DC 1, AC 1 (chroma).
std::span<const uint8_t> standard_huffman_segments();

/// Two DQT segments, luma and chroma, scaled to a quality of 1 to 100 as libjpeg does it.
void append_standard_quant_segments(std::vector<uint8_t>& bytes, int quality);

}  // namespace penstock
