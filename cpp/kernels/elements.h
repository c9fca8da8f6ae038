// Elements moved as they are: planes mirrored, cut out and put into borders. An element is a value,
// or a pixel whose values lie side by side; nothing here looks into it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"
#include "kernels/pad.h"

namespace penstock {

/// Rows of elements of `bytes` bytes each, without gaps between them; `stride` bytes from row to
/// row.
template <class Byte>
struct ElementRows {
  Byte* data = nullptr;
  ptrdiff_t stride = 0;
  int height = 0;
  int width = 0;
  int bytes = 1;

  Byte* row(ptrdiff_t y) const { return data + y * stride; }
};

using ElementTarget = ElementRows<uint8_t>;
using ElementSource = ElementRows<const uint8_t>;

/// Writes the first `count` elements of `source` to `target` in reverse order.
PENSTOCK_VARIANTS(void mirror_elements(uint8_t* target, const uint8_t* source, size_t count,
                                       int bytes))

/// Copies rows of the same size, mirrored where asked. Requires that they do not overlap.
void copy_elements(const ElementTarget& target, const ElementSource& source, bool flip_horizontal,
                   bool flip_vertical);

/// Puts `source` into `target` at (top, left), and borders around it; `fill` is one element, for
/// constant ones. Requires a source of at least 1x1 that fits, and does not overlap.
void pad_elements(const ElementTarget& target, const ElementSource& source, int top, int left,
                  PadMode mode, const uint8_t* fill);

}  // namespace penstock
