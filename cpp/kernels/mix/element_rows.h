// Arithmetic on rows of finished floating-point elements.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "kernels/output.h"

namespace penstock {

/// Nothing outside the `count` elements is touched.
struct ElementRows {
  /// out = x * own + y * other, each product and the sum rounded to the element, as torch does it
  /// in three steps. `out` may be `x`.
  void (*mix)(void* out, const void* x, const void* y, int64_t count, float own, float other);
  /// Numbers rounded to the element; for uint8 truncated, keeping the lowest eight bits, as torch
  /// does on this kind of machine.
  void (*narrow)(void* out, const float* numbers, int64_t count);
};

/// `mix` is null for Element::uint8: who mixes levels has to say first how to round them.
PENSTOCK_VARIANTS(ElementRows element_rows(Element element))

}  // namespace penstock
