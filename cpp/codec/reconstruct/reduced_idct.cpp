// The 4x4, 2x2 and 1x1 inverse DCTs in plain C++.
#include <algorithm>

#include "codec/reconstruct.h"
#include "codec/reconstruct/islow.h"

namespace penstock {
namespace {

using namespace islow;

int dequantised(const int16_t* block, const uint16_t* quant, int position) {
  return static_cast<int16_t>(block[position] * quant[position]);
}

int16_t saturate16(int value) { return static_cast<int16_t>(std::clamp(value, -32768, 32767)); }

uint8_t sample(int value, bool centred) {
  return static_cast<uint8_t>(std::clamp(value, -128, 127) + (centred ? 0 : 128));
}

/// The four-point transform: with cos(k pi / 8) times the square root of 2 it needs only two of the
/// eight-point one's constants.
template <int kShift>
void transform_line(int16_t* line, int step) {
  constexpr int kRounding = 1 << (kShift - 1);
  constexpr int kCos1 = k0_541 + k0_765, kCos3 = k0_541;
  const int x0 = line[0], x1 = line[step], x2 = line[2 * step], x3 = line[3 * step];
  const int even[2] = {(x0 + x2) * (1 << kConstBits) + kRounding,
                       (x0 - x2) * (1 << kConstBits) + kRounding};
  const int odd[2] = {x1 * kCos1 + x3 * kCos3, x1 * kCos3 - x3 * kCos1};
  for (int i = 0; i < 2; ++i) {
    line[i * step] = saturate16((even[i] + odd[i]) >> kShift);
    line[(3 - i) * step] = saturate16((even[i] - odd[i]) >> kShift);
  }
}

int padded(int blocks) { return (blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup; }

}  // namespace

void scalar::idct_row_4x4(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                          const uint16_t* quant, bool centred) {
  for (int b = 0; b < padded(blocks); ++b, coefficients += 64, plane += 4) {
    int16_t work[16];
    for (int i = 0; i < 16; ++i)
      work[i] = static_cast<int16_t>(dequantised(coefficients, quant, i / 4 * 8 + i % 4));
    for (int x = 0; x < 4; ++x) transform_line<kColumnShift>(work + x, 4);
    for (int y = 0; y < 4; ++y) {
      transform_line<kRowShift>(work + 4 * y, 1);
      for (int x = 0; x < 4; ++x) plane[y * stride + x] = sample(work[4 * y + x], centred);
    }
    std::fill_n(coefficients, 64, int16_t{0});
  }
}

void scalar::idct_row_2x2(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                          const uint16_t* quant, bool centred) {
  for (int b = 0; b < padded(blocks); ++b, coefficients += 64, plane += 2) {
    const int x00 = dequantised(coefficients, quant, 0), x01 = dequantised(coefficients, quant, 1);
    const int x10 = dequantised(coefficients, quant, 8), x11 = dequantised(coefficients, quant, 9);
    plane[0] = sample((x00 + x01 + x10 + x11 + 4) >> 3, centred);
    plane[1] = sample((x00 - x01 + x10 - x11 + 4) >> 3, centred);
    plane[stride] = sample((x00 + x01 - x10 - x11 + 4) >> 3, centred);
    plane[stride + 1] = sample((x00 - x01 - x10 + x11 + 4) >> 3, centred);
    std::fill_n(coefficients, 64, int16_t{0});
  }
}

void idct_row_1x1(uint8_t* plane, ptrdiff_t, int16_t* coefficients, int blocks,
                  const uint16_t* quant, bool centred) {
  for (int b = 0; b < padded(blocks); ++b, coefficients += 64) {
    samples_of_dc(plane + b, coefficients, 1, quant[0], centred);
    coefficients[0] = 0;
  }
}

void samples_of_dc(uint8_t* plane, const int16_t* dc, int blocks, uint16_t quant, bool centred) {
  for (int b = 0; b < blocks; ++b)
    plane[b] = sample((static_cast<int16_t>(dc[b] * quant) + 4) >> 3, centred);
}

}  // namespace penstock
