// CRC-32 as zlib and PNG compute it, fast enough to check everything that comes over a network.
#pragma once

#include <cstdint>
#include <span>

namespace penstock {

/// Goes on from the checksum of the bytes before these; 0 if there are none.
uint32_t checksum(uint32_t before, std::span<const uint8_t> bytes);

}  // namespace penstock
