// The two 16-bit floating-point elements, as bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace penstock {

/// Rounds the low `dropped` bits of `bits` away, to the nearest, ties to even.
inline uint32_t drop_bits(uint32_t bits, int dropped) {
  const uint32_t odd = (bits >> dropped) & 1;
  return (bits + (1u << (dropped - 1)) - 1 + odd) >> dropped;
}

inline uint16_t to_bfloat16(float value) {
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<uint16_t>(drop_bits(std::bit_cast<uint32_t>(value), 16));
}

inline float from_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

inline uint16_t to_float16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent > 15) return static_cast<uint16_t>(sign | 0x7C00);
  if (exponent < -25) return static_cast<uint16_t>(sign);
  if (exponent >= -14) {
    // A carry out of the mantissa moves on to the next exponent, up to infinity, as it should.
    const uint32_t rebased = magnitude - ((127 - 15) << 23);
    return static_cast<uint16_t>(sign | drop_bits(rebased, 13));
  }
  const uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
  return static_cast<uint16_t>(sign | drop_bits(mantissa, 13 + (-14 - exponent)));
}

inline float from_float16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00)  // infinity; or NaN, which becomes a quiet one
    return std::bit_cast<float>(sign | 0x7F800000u | (magnitude << 13) |
                                (magnitude > 0x7C00 ? 0x400000u : 0));
  if (magnitude >= 0x400)
    return std::bit_cast<float>(sign | ((magnitude << 13) + ((127 - 15) << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign != 0 ? -subnormal : subnormal;
}

}  // namespace penstock
