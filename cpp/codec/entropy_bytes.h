// The byte layer of an entropy-coded segment: markers and stuffed zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// `unstuff` may write this many bytes past its result.
inline constexpr size_t kUnstuffSlack = 64;

struct EntropyBytes {
  /// The first 0xFF in [from, end) that is not followed by a stuffed zero inside the range, or
  /// `end`.
  const uint8_t* (*find_marker)(const uint8_t* from, const uint8_t* end);

  /// Copies [from, end) without the stuffed zeros and returns the end of the copy.
  /// Requires a range without markers; `target` must hold end - from + kUnstuffSlack bytes.
  uint8_t* (*unstuff)(uint8_t* target, const uint8_t* from, const uint8_t* end);
};

PENSTOCK_VARIANTS(extern const EntropyBytes entropy_bytes)

}  // namespace penstock
