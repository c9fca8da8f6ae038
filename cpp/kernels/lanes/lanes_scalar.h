// One lane: what the loops written for lanes are in plain C++. See lanes_x86.h for the meaning.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/half.h"

namespace penstock {
namespace {

struct Lanes {
  static constexpr int kCount = 1;
  using Floats = float;
  using Words = uint32_t;
  using Ints = int32_t;

  static Floats load(const float* from) { return *from; }
  static void store(float* to, Floats values) { *to = values; }
  static Ints load_bytes(const uint8_t* from) { return *from; }
  static void store_bytes(uint8_t* to, Ints values) { *to = static_cast<uint8_t>(values); }

  static Floats load_float16(const uint16_t* from) { return from_float16(*from); }
  static void store_float16(uint16_t* to, Floats values) { *to = to_float16(values); }
  static Floats load_bfloat16(const uint16_t* from) { return from_bfloat16(*from); }
  static void store_bfloat16(uint16_t* to, Floats values) { *to = to_bfloat16(values); }

  static Words all(uint32_t word) { return word; }
  static Words words(Floats values) {
    uint32_t bits;
    std::memcpy(&bits, &values, sizeof bits);
    return bits;
  }
  static Floats floats(Words bits) {
    float values;
    std::memcpy(&values, &bits, sizeof values);
    return values;
  }
  static Floats convert(Ints values) { return static_cast<float>(values); }
  static Ints truncate(Floats values) { return static_cast<int32_t>(values); }
  static Floats clamp(Floats values, float low, float high) {
    return values < low ? low : values > high ? high : values;
  }
  static Ints clamp(Ints values, int low, int high) {
    return values < low ? low : values > high ? high : values;
  }
  static Floats square_root(Floats values) { return std::sqrt(values); }
  static Floats multiply_add(Floats a, float b, Floats c) { return std::fma(a, b, c); }
  static uint32_t mask_beyond(Floats values, float limit) { return std::abs(values) > limit; }

  using Spread = uint64_t;
  static Spread spread(Words words) { return words; }
  static Words join(Spread spread) { return static_cast<uint32_t>(spread); }
  static Spread product(Spread a, uint32_t factor) { return (a & 0xFFFFFFFF) * factor; }
  static Spread high_xor(Spread a, Spread b, uint32_t c) { return (a >> 32) ^ b ^ c; }

  static Words ascending() { return 0; }
  static Words group_offsets() { return 0; }
  static void store_groups(float* to, Floats first, Floats second, Floats third, Floats fourth) {
    to[0] = first;
    to[1] = second;
    to[2] = third;
    to[3] = fourth;
  }
};

}  // namespace
}  // namespace penstock
