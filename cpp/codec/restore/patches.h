// Single bytes in which a rebuilt file differs from the original, such as odd padding bits.
//
// Each patch is three things, one after another: how many bytes lie between it and the one before
// it, how many bytes it has (both of variable length), and the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

/// Replaces `patches` by those that make `original` of `rebuilt`. False if the sizes differ, or if
/// there are too many to be worth it.
bool find_patches(std::vector<uint8_t>& patches, std::span<const uint8_t> rebuilt,
                  std::span<const uint8_t> original);

/// False if a patch lies outside the file.
bool apply_patches(std::span<uint8_t> file, std::span<const uint8_t> patches);

}  // namespace penstock
