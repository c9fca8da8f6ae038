// Rows of weighted sums: plain loops, which the compiler turns into vectors of whatever instruction
// set the including file is compiled for.
#pragma once

#include <cstdint>

namespace penstock {

struct MixRows {
  void (*begin)(float* sum, const uint8_t* row, int width, float weight);
  void (*add)(float* sum, const uint8_t* row, int width, float weight);
  void (*end)(uint8_t* row, const float* sum, int width);
};

const MixRows& mix_rows_scalar();
#if defined(__x86_64__)
const MixRows& mix_rows_avx2();
const MixRows& mix_rows_avx512();
#endif

namespace {

[[maybe_unused]] void begin_row(float* __restrict sum, const uint8_t* __restrict row, int width,
                                float weight) {
  for (int x = 0; x < width; ++x) sum[x] = weight * static_cast<float>(row[x]);
}

[[maybe_unused]] void add_row(float* __restrict sum, const uint8_t* __restrict row, int width,
                              float weight) {
  for (int x = 0; x < width; ++x) sum[x] += weight * static_cast<float>(row[x]);
}

[[maybe_unused]] void end_row(uint8_t* __restrict row, const float* __restrict sum, int width) {
  for (int x = 0; x < width; ++x) {
    const float above = sum[x] > 0.0f ? sum[x] : 0.0f;
    row[x] = static_cast<uint8_t>(static_cast<int>(above < 255.0f ? above : 255.0f));
  }
}

}  // namespace
}  // namespace penstock
