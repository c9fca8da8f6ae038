// Which decoder a JPEG with a readable header is given to.
#pragma once

#include "codec/app_segments.h"
#include "codec/jpeg_header.h"

namespace penstock {

struct ScanFacts {
  bool holds_all = false;  // the first scan has all components
  bool regular = false;    // and has them in order, with all coefficients at once
  bool only_one = false;   // no further scan may follow
  bool restarts = false;   // restart markers were seen
};

/// True if our own upsampling handles the header's sampling factors as libjpeg does.
bool is_sampling_usable(const JpegHeader& header);

/// Fills in the header's route and reason. Requires a frame of one or three 8-bit components and
/// scans that end in EOI.
void choose_route(JpegHeader& header, const AppFacts& facts, const ScanFacts& scan);

}  // namespace penstock
