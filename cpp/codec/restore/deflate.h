// zlib's deflate, primed with what JPEG headers are mostly made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

/// Appends the raw deflate stream of `plain`.
void append_deflated(std::vector<uint8_t>& bytes, std::span<const uint8_t> plain);

/// Fills `plain`; false unless `deflated` is a whole stream of exactly so many bytes.
bool inflate_exactly(std::span<uint8_t> plain, std::span<const uint8_t> deflated);

/// No stream of so many bytes inflates to more.
uint64_t most_inflated_bytes(size_t deflated_bytes);

/// The text that both sides have in common: part of the format, never to be changed.
const std::vector<uint8_t>& header_dictionary();

}  // namespace penstock
