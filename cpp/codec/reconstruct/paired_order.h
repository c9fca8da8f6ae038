// In which order coefficients, and their quantisers, lie for transforms that take rows in pairs.
#pragma once

namespace penstock {

// Pairs of rows: kPairedRows[g][p] are the two of pair p of group g.
inline constexpr int kPairedRows[2][2][2] = {{{0, 4}, {2, 6}}, {{1, 7}, {5, 3}}};

// A register has the pairs of four columns. Columns at the same place of both lists are the pairs
// of the second pass.
inline constexpr int kPairedColumns[2][4] = {{0, 1, 2, 5}, {4, 7, 6, 3}};

/// The natural place of word `word` (0 to 7) of register 4 * group + 2 * pair + half.
constexpr int paired_place(int group, int pair, int half, int word) {
  return 8 * kPairedRows[group][pair][word % 2] + kPairedColumns[half][word / 2];
}

// The same of the lowest 4x4 coefficients, in two registers.
inline constexpr int kFourRows[2][2] = {{2, 0}, {3, 1}};
inline constexpr int kFourColumns[4] = {2, 0, 3, 1};

constexpr int four_paired_place(int pair, int word) {
  return 8 * kFourRows[pair][word % 2] + kFourColumns[word / 2];
}

}  // namespace penstock
