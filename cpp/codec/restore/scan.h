// One scan of a JPEG as its SOS segment describes it.
#pragma once

#include <cstdint>
#include <span>

#include "codec/jpeg_header.h"

namespace penstock {

struct ScanComponent {
  int index = 0;  // of the frame's component
  int dc_table = 0;
  int ac_table = 0;
};

struct Scan {
  int components = 0;
  ScanComponent component[3];
  int first_position = 0;  // zigzag
  int last_position = 63;
  int known_bit = 0;  // progressive: lowest bit that earlier scans have told, or 0
  int low_bit = 0;    // lowest bit that this one tells
  bool progressive = false;

  bool holds_dc() const { return first_position == 0; }
  bool holds_ac() const { return last_position > 0; }
  bool refines() const { return known_bit > 0; }
};

/// Takes in the body of an SOS segment of the frame in `header`; returns nullptr, or why it is no
/// scan that Huffman codes can write.
const char* read_scan(Scan& scan, std::span<const uint8_t> body, const JpegHeader& header);

}  // namespace penstock
