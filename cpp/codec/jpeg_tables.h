// The table segments of a JPEG: quantisation, Huffman codes, restart interval.
#pragma once

#include <cstdint>
#include <span>

#include "codec/jpeg_header.h"

namespace penstock {

/// Each takes a segment's body into the header and returns false if it is not well formed.
bool read_quant_tables(JpegHeader& header, std::span<const uint8_t> body);
bool read_huffman_tables(JpegHeader& header, std::span<const uint8_t> body);
bool read_restart_interval(JpegHeader& header, std::span<const uint8_t> body);

/// False if libjpeg would refuse this conditioning of arithmetic coding, as it does even in a file
/// that uses Huffman codes.
bool is_valid_conditioning(std::span<const uint8_t> body);

/// True if the counts form a prefix code that leaves the all-ones code free at every length, as
/// libjpeg demands, and (for DC) no symbol asks for more than 15 bits.
bool is_usable(const HuffmanSpec& spec, bool dc);

}  // namespace penstock
