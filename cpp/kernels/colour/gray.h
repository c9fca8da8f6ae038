// Gray from colour, as Pillow's convert("L") has it.
#pragma once

#include "base/image.h"

namespace penstock {

/// Writes the gray of `in`, which has three channels, into the first plane of `out`; that may be
/// the first plane of `in`. May write up to kRowSlack bytes past the end of rows.
void make_gray(const PlanarTarget& out, const PlanarView& in);

}  // namespace penstock
