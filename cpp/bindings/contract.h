// What Python hands to the engine: programs for some samples, and how their pixels are written.
// Shared by the binding files that take them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "engine/program.h"
#include "kernels/output.h"

namespace penstock {

template <class Value, size_t kSides>
using Table = nanobind::ndarray<nanobind::numpy, const Value, nanobind::ndim<kSides>,
                                nanobind::c_contig, nanobind::device::cpu>;
using Ints = Table<int32_t, 1>;
using Longs = Table<int64_t, 1>;

/// How batch slots are written: element, layout, and the arithmetic of the final pass. Of an image
/// of equal channels one may be enough; only planes come so. Of three, blue may come first.
struct Format {
  Element element;
  Layout layout;
  FinalPass pass;
  int channels = 3;  // or 1
  bool blue_first = false;
};

/// What is done to some samples: steps x fields for each, and one sample's effects after another's.
struct Programs {
  Table<int32_t, 3> steps;
  Ints step_counts;
  Table<int32_t, 2> effect_heads;
  Table<double, 2> effect_numbers;
  Ints effect_counts;

  size_t samples() const { return steps.shape(0); }

  /// Copies all into `own_steps` and `own_effects`; the programs, one per sample, lie there.
  std::vector<Program> copy_to(std::vector<Step>& own_steps,
                               std::vector<Effect>& own_effects) const;
};

}  // namespace penstock
