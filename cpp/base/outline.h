// The part of an image that is needed, where that is no rectangle.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock {

/// Columns [begin, end) of an image.
struct Columns {
  int begin = 0;
  int end = 0;
};

/// A convex quadrilateral in pixels of an image, and `reach` pixels around it; or all of the image.
struct Outline {
  struct Corner {
    double x = 0;
    double y = 0;
  };

  bool is_all = true;
  Corner corner[4];  // in their order around it
  int reach = 0;

  /// The same in an image that begins at this place.
  Outline seen_from(int top, int left) const {
    Outline seen = *this;
    for (Corner& each : seen.corner) {
      each.x -= left;
      each.y -= top;
    }
    return seen;
  }

  /// The same in an image of this size that is mirrored.
  Outline mirrored(bool across, bool down, int height, int width) const {
    Outline seen = *this;
    for (Corner& each : seen.corner) {
      if (across) each.x = width - each.x;
      if (down) each.y = height - each.y;
    }
    return seen;
  }

  /// What rows [top, end) need of the columns [left, right).
  Columns needed(int top, int end, int left, int right) const {
    if (is_all) return {left, right};
    const double above = top - reach, below = end + reach;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (int i = 0; i < 4; ++i) {
      const Corner &a = corner[i], &b = corner[(i + 1) % 4];
      if (std::min(a.y, b.y) > below || std::max(a.y, b.y) < above) continue;
      for (const double y : {std::clamp(a.y, above, below), std::clamp(b.y, above, below)}) {
        const double share = a.y == b.y ? 0 : (y - a.y) / (b.y - a.y);
        const double x = a.x + (b.x - a.x) * share;
        least = std::min(least, a.y == b.y ? std::min(a.x, b.x) : x);
        most = std::max(most, a.y == b.y ? std::max(a.x, b.x) : x);
      }
    }
    if (!(least <= most)) return {left, left};
    const double from = std::floor(least) - reach, to = std::ceil(most) + reach;
    const int begin = static_cast<int>(std::clamp<double>(from, left, right));
    return {begin, static_cast<int>(std::clamp<double>(to, begin, right))};
  }
};

}  // namespace penstock
