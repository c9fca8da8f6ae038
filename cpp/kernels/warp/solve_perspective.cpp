#include "kernels/warp/solve_perspective.h"

#include <cmath>
#include <limits>
#include <utility>

namespace penstock {
namespace {

using Wide = long double;
constexpr int kSide = 8;
// Part of a column's length. Householder's reflections of an 8x8 matrix are off by some 64 units
// of the last bit of a double in theory, and by one or two of them in practice.
constexpr Wide kBackwardError = 1e-13L;
constexpr bool kIsWider =
    std::numeric_limits<Wide>::digits > std::numeric_limits<double>::digits + 8;

struct Equations {
  Wide left[kSide][kSide];
  Wide right[kSide];
};

Equations equations_of(const CornerPairs& corners) {
  Equations all{};
  for (int corner = 0; corner < 4; ++corner) {
    const auto [x, y] = corners.to[corner];
    for (int axis = 0; axis < 2; ++axis) {
      Wide* row = all.left[2 * corner + axis];
      const Wide wanted = corners.from[corner][axis];
      row[3 * axis] = x;
      row[3 * axis + 1] = y;
      row[3 * axis + 2] = 1;
      row[6] = -wanted * x;
      row[7] = -wanted * y;
      all.right[2 * corner + axis] = wanted;
    }
  }
  return all;
}

/// Gauss and Jordan's elimination, with the largest number of each column as its pivot.
bool invert(Wide inverse[kSide][kSide], Equations work) {
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) inverse[i][j] = i == j;
  for (int column = 0; column < kSide; ++column) {
    int best = column;
    for (int row = column + 1; row < kSide; ++row)
      if (std::fabs(work.left[row][column]) > std::fabs(work.left[best][column])) best = row;
    const Wide pivot = work.left[best][column];
    if (!(std::fabs(pivot) > 0)) return false;
    std::swap(work.left[best], work.left[column]);
    std::swap(inverse[best], inverse[column]);
    for (int j = 0; j < kSide; ++j) {
      work.left[column][j] /= pivot;
      inverse[column][j] /= pivot;
    }
    for (int row = 0; row < kSide; ++row) {
      const Wide factor = work.left[row][column];
      if (row == column || factor == 0) continue;
      for (int j = 0; j < kSide; ++j) {
        work.left[row][j] -= factor * work.left[column][j];
        inverse[row][j] -= factor * inverse[column][j];
      }
    }
  }
  return true;
}

Wide length(const Wide* numbers, int step) {
  Wide sum = 0;
  for (int i = 0; i < kSide; ++i) sum += numbers[i * step] * numbers[i * step];
  return std::sqrt(sum);
}

}  // namespace

bool solve_perspective(float numbers[8], const CornerPairs& corners) {
  if (!kIsWider) return false;
  const Equations all = equations_of(corners);
  Wide inverse[kSide][kSide];
  if (!invert(inverse, all)) return false;

  Wide solution[kSide] = {};
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) solution[i] += inverse[i][j] * all.right[j];

  // What theirs may have been solved for instead, and how well ours solves the given equations.
  Wide change = length(all.right, 1);
  Wide left_over[kSide];
  for (int i = 0; i < kSide; ++i) {
    change += length(&all.left[0][i], kSide) * std::fabs(solution[i]);
    left_over[i] = all.right[i];
    for (int j = 0; j < kSide; ++j) left_over[i] -= all.left[i][j] * solution[j];
  }
  change = kBackwardError * change + length(left_over, 1);

  for (int i = 0; i < kSide; ++i) {
    const Wide reach = change * length(inverse[i], 1);
    const auto least = static_cast<float>(solution[i] - reach);
    const auto most = static_cast<float>(solution[i] + reach);
    // Around 0 there are floats of all sizes, so that no bound is narrow enough.
    if (!(least == most) || least == 0) return false;
    numbers[i] = least;
  }
  return true;
}

}  // namespace penstock
