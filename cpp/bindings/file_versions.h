// Versions of files that Python has read, as rows of an array.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "engine/row_memory.h"

namespace penstock {

/// Device, inode, bytes and time of change of each file; zeros where nothing is known.
using Versions = nanobind::ndarray<nanobind::numpy, const uint64_t, nanobind::shape<-1, 4>,
                                   nanobind::c_contig, nanobind::device::cpu>;

inline FileVersion version_in(const Versions& versions, size_t row) {
  const uint64_t* told = versions.data() + 4 * row;
  return {told[0], told[1], told[2], static_cast<int64_t>(told[3])};
}

}  // namespace penstock
