// The eight numbers of a perspective that moves four corners, rounded to float32 as whoever solves
// for them in doubles would round them.
#pragma once

namespace penstock {

/// Corners (x, y), whole numbers whose products a double holds.
struct CornerPairs {
  double from[4][2];
  double to[4][2];
};

/// Writes the numbers that lead from `to` back to `from`; false if their last bit depends on who
/// solves for them, and for corners of which no perspective is known.
///
/// A solver by Householder reflections in doubles, such as LAPACK's gels, finds the exact solution
/// of equations near the given ones: each column is off by no more than a small part of its length.
/// From this follows how far its solution can be from ours, which is computed with more bits. Where
/// that far is not enough to reach another float32, both are rounded to the same one.
bool solve_perspective(float numbers[8], const CornerPairs& corners);

}  // namespace penstock
