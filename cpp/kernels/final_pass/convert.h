// Bytes to the elements of an output row, through the final pass.
#pragma once

#include <cstdint>

#include "base/dispatch.h"
#include "kernels/output.h"

namespace penstock {

/// Says that a row holds interleaved pixels rather than one channel.
inline constexpr int kInterleaved = -1;

/// Stores past the cache are fast only if they fill whole lines.
inline constexpr int kCacheLine = 64;

/// Writes exactly `count` elements from `count` bytes (of which kRowSlack past the end are
/// readable). `channel` is 0..2, or kInterleaved for red, green, blue, red, ...
/// `past_cache` requires a target, and a number of bytes, that are multiples of kCacheLine, and
/// the caller owes a store fence before another thread reads the target.
using ConvertRow = void (*)(void* target, const uint8_t* source, int count, const FinalPass& pass,
                            int channel, bool past_cache);

/// For a floating-point element. The scalar set looks results up in the pass's tables; others
/// compute them, so they want a pass that is computable.
PENSTOCK_VARIANTS(ConvertRow converter_for(Element element))

inline ConvertRow converter_for(Element element, const FinalPass& pass) {
  return pass.computable ? PENSTOCK_PICK(converter_for)(element) : scalar::converter_for(element);
}

}  // namespace penstock
