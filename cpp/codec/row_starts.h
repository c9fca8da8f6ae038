// Where the rows of units of a baseline JPEG begin in its entropy data. Huffman codes can only be
// read one after the other, so a crop costs all that lies before it; whoever has decoded a file
// once and kept this skips what lies above the crop and to the right of it.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock {

struct RowStart {
  uint32_t source = 0;  // bytes from the beginning of the scan's data, stuffed zeros included
  uint32_t bit = 0;     // bits from there, without stuffed zeros
  int16_t dc[3] = {};   // predictions
};

/// Of the first rows of one file, as far as it was decoded.
using RowStarts = std::vector<RowStart>;

}  // namespace penstock
