// Bytes to the elements of an output row, through the final pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"
#include "kernels/colour/lut.h"
#include "kernels/output.h"

namespace penstock {

/// Says that a row holds interleaved pixels rather than one channel.
inline constexpr int kInterleaved = -1;

/// Stores past the cache are fast only if they fill whole lines.
inline constexpr int kCacheLine = 64;

/// Rows of `count` bytes (of which kRowSlack past the end are readable), and where the elements go
/// that become of them. Strides are in bytes.
struct RowsToConvert {
  void* target;
  ptrdiff_t target_stride;
  const uint8_t* source;
  ptrdiff_t source_stride;
  int rows;
  int count;
  const uint8_t* levels = nullptr;  // 256 of them: what becomes of bytes first, in single channels
  const BitChange* change = nullptr;  // which does the same, if one does
};

/// Writes exactly `count` elements to each row. `channel` is 0..2, or kInterleaved for red, green,
/// blue, red, ...
/// `past_cache` requires targets, and a number of bytes, that are multiples of kCacheLine, and
/// the caller owes a store fence before another thread reads the target.
using ConvertRows = void (*)(const RowsToConvert& rows, const FinalPass& pass, int channel,
                             bool past_cache);

/// For a floating-point element. The scalar set looks results up in the pass's tables; others
/// compute them, so they want a pass that is computable.
PENSTOCK_VARIANTS(ConvertRows converter_for(Element element))

inline ConvertRows converter_for(Element element, const FinalPass& pass) {
  return pass.computable ? PENSTOCK_PICK(converter_for)(element) : scalar::converter_for(element);
}

}  // namespace penstock
