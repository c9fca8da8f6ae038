// What Python hands over, checked. Messages begin with `where`, the function that was called.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <span>
#include <string>

#include "base/image.h"
#include "kernels/mix/mix_batch.h"

namespace penstock {

using Batch = nanobind::ndarray<nanobind::ndim<4>, nanobind::c_contig, nanobind::device::cpu>;
using Box = std::array<int, 4>;  // top, left, height, width

// Where in-between values stay far from the limits of int.
inline constexpr int kLargestSide = 1 << 24;

inline std::span<const uint8_t> bytes_of(const nanobind::bytes& data) {
  return {reinterpret_cast<const uint8_t*>(data.c_str()), data.size()};
}

/// Throws Error unless a side is 1 to kLargestSide.
int checked_side(const std::string& where, size_t side);

/// Throws Error unless the box lies inside the image, which messages call `what`.
Region region_in(const char* where, const Box& box, int64_t height, int64_t width,
                 const char* what = "image");

/// The images of a batch; `layout` is chw or hwc.
BatchSlots slots_of(const char* where, const Batch& batch, const std::string& layout);

}  // namespace penstock
