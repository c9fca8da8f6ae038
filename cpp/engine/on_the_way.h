// The first effects after a step, as far as the pass that writes its result can do them beside it.
#pragma once

#include <cstddef>
#include <span>

#include "engine/effects.h"
#include "engine/program.h"
#include "kernels/output.h"
#include "kernels/row_move.h"

namespace penstock {

struct OnTheWay {
  size_t count = 0;        // effects that are done so
  Step step;               // leaves out what is moved out of sight
  bool is_placed = false;  // whether rows move; `placement` says where to, then
  Placement placement;

  /// Where the step's result goes, which becomes `output`. Valid as long as this.
  Output place_in(const Output& output) const;
};

/// Finds these effects among those after `step`, whose input has so many channels. Tables that
/// depend on no pixel are added to `tables`, to be done by the pass or to wait further. Rows may
/// move once, by whole pixels, and only if `may_move`.
OnTheWay take_on_the_way(const Step& step, std::span<const Effect> effects, int channels,
                         bool may_move, PendingTables& tables);

}  // namespace penstock
