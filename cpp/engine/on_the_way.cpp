#include "engine/on_the_way.h"

#include <algorithm>

#include "kernels/warp/nearest_paths.h"

namespace penstock {
namespace {

/// Some of the rows or columns of an image.
struct Range {
  int begin;
  int end;
  int size() const { return end - begin; }
};

/// What can be seen of `size` rows or columns that move by `by`.
Range seen(int size, int by) { return {std::clamp(by, 0, size), std::clamp(size + by, 0, size)}; }

/// Moves the result of `way.step`, if this effect does no more than that, and some of it stays.
bool place(OnTheWay& way, const Effect& effect, int channels, const PendingTables& tables) {
  const auto p = effect.read<EffectKind::affine>();
  Step& step = way.step;
  const int height = step.window_height, width = step.window_width;
  RowMove move;
  if (has_frame(p.frame) || p.rounded[0] != 0 || effect.height != height || effect.width != width ||
      !find_row_move(move, p.matrix, static_cast<Filter>(p.filter), height, width))
    return false;
  Fill fill = fill_of(p.fill);
  if (channels == 1 && !fill.is_gray()) return false;
  const Range rows = seen(height, move.down);
  const Range columns = move.slope == 0 ? seen(width, move.across(0)) : Range{0, width};
  if (rows.size() <= 0 || columns.size() <= 0 || !tables.pass_below(fill.colour)) return false;

  // The window is taken before it is mirrored.
  step.window_top += step.flip_vertical != 0 ? height - rows.end : rows.begin;
  step.window_left += step.flip_horizontal != 0 ? width - columns.end : columns.begin;
  step.window_height = rows.size();
  step.window_width = columns.size();
  move.down -= rows.begin;
  move.start -= static_cast<uint32_t>(columns.begin) << 16;
  way.placement = {height, width, move, {}};
  std::ranges::copy(fill.colour, way.placement.fill);
  way.is_placed = true;
  return true;
}

}  // namespace

Output OnTheWay::place_in(const Output& output) const {
  Output placed = output;
  if (is_placed) {
    placed.height = step.window_height;
    placed.width = step.window_width;
    placed.placement = &placement;
  }
  return placed;
}

OnTheWay take_on_the_way(const Step& step, std::span<const Effect> effects, int channels,
                         bool may_move, PendingTables& tables) {
  OnTheWay way;
  way.step = step;
  for (const Effect& effect : effects) {
    if (effect.waits && is_fixed_table(effect.kind)) {
      PlanarTarget none;
      tables.add(none, effect.kind, effect.numbers);
    } else if (!may_move || way.is_placed || effect.kind != EffectKind::affine ||
               !place(way, effect, channels, tables)) {
      break;
    }
    ++way.count;
  }
  return way;
}

}  // namespace penstock
