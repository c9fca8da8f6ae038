// The memory of users' tensors, told by its address, which costs less than any protocol; whoever
// calls has checked the tensor and keeps it alive.
#pragma once

#include <cstddef>

#include "base/error.h"
#include "kernels/tensor/values.h"

namespace penstock {

template <class T>
T* memory_at(size_t address) {
  if (address == 0) throw Error("Tensor values: there is no memory at address 0.");
  return reinterpret_cast<T*>(address);
}

/// Colours of `pixels` pixels, in planes without gaps or side by side.
template <class T>
Colours<T> colours_at(size_t address, size_t pixels, bool interleaved) {
  T* first = memory_at<T>(address);
  const size_t next = interleaved ? 1 : pixels;
  return {{first, first + next, first + 2 * next}, interleaved ? 3 : 1};
}

}  // namespace penstock
