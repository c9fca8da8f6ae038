// Bytes to the elements of an output row, through the final pass.
#pragma once

#include <cstdint>

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

ConvertRow convert_scalar(Element element);
#if defined(__x86_64__)
ConvertRow convert_avx2(Element element);
ConvertRow convert_avx512(Element element);
#endif

/// The variant in use (see base/cpu.h) for a floating-point element; passes that are not
/// computable go through their tables.
ConvertRow convert_row_for(Element element, const FinalPass& pass);

}  // namespace penstock
