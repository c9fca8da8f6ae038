// The inverse DCT in the very arithmetic of libjpeg-turbo's x86 SIMD code: 16-bit sums wrap around,
// products and their sums have 32 bits (and never overflow), results saturate.
#include <algorithm>

#include "codec/reconstruct.h"
#include "codec/reconstruct/islow.h"

namespace penstock::scalar {
namespace {

using namespace islow;

int16_t wrap16(int value) { return static_cast<int16_t>(value); }
int16_t saturate16(int value) { return static_cast<int16_t>(std::clamp(value, -32768, 32767)); }

/// Eight values, `step` apart, in place.
template <int kShift>
void transform_line(int16_t* line, int step) {
  const int x0 = line[0], x1 = line[step], x2 = line[2 * step], x3 = line[3 * step];
  const int x4 = line[4 * step], x5 = line[5 * step], x6 = line[6 * step], x7 = line[7 * step];

  const int rounding = 1 << (kShift - 1);
  const int sum04 = wrap16(x0 + x4) * (1 << kConstBits) + rounding;
  const int difference04 = wrap16(x0 - x4) * (1 << kConstBits) + rounding;
  const int even2 = x2 * k0_541 + x6 * (k0_541 - k1_847);
  const int even3 = x2 * (k0_541 + k0_765) + x6 * k0_541;
  const int even[4] = {sum04 + even3, difference04 + even2, difference04 - even2, sum04 - even3};

  const int sum37 = wrap16(x3 + x7);
  const int sum15 = wrap16(x1 + x5);
  const int z3 = sum37 * (k1_175 - k1_961) + sum15 * k1_175;
  const int z4 = sum37 * k1_175 + sum15 * (k1_175 - k0_390);
  const int odd[4] = {
      x7 * -k0_899 + x1 * (k1_501 - k0_899) + z4,
      x5 * -k2_562 + x3 * (k3_072 - k2_562) + z3,
      x5 * (k2_053 - k2_562) + x3 * -k2_562 + z4,
      x7 * (k0_298 - k0_899) + x1 * -k0_899 + z3,
  };

  for (int i = 0; i < 4; ++i) {
    line[i * step] = saturate16((even[i] + odd[i]) >> kShift);
    line[(7 - i) * step] = saturate16((even[i] - odd[i]) >> kShift);
  }
}

void transform_columns(int16_t* work, const int16_t* block, const uint16_t* quant) {
  for (int i = 0; i < 64; ++i) work[i] = wrap16(block[i] * quant[i]);
  if (std::all_of(block + 8, block + 64, [](int16_t value) { return value == 0; })) {
    for (int x = 0; x < 8; ++x) work[x] = wrap16(work[x] * (1 << kColumnBits));
    for (int y = 1; y < 8; ++y) std::copy(work, work + 8, work + 8 * y);
    return;
  }
  for (int x = 0; x < 8; ++x) transform_line<kColumnShift>(work + x, 8);
}

}  // namespace

void idct_block(uint8_t* plane, ptrdiff_t stride, const int16_t* block, const uint16_t* quant,
                bool centred) {
  int16_t work[64];
  transform_columns(work, block, quant);
  const int offset = centred ? 0 : 128;
  for (int y = 0; y < 8; ++y) {
    transform_line<kRowShift>(work + 8 * y, 1);
    for (int x = 0; x < 8; ++x)
      plane[y * stride + x] =
          static_cast<uint8_t>(std::clamp<int>(work[8 * y + x], -128, 127) + offset);
  }
}

void idct_row(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
              const uint16_t* quant, bool centred) {
  const int padded = (blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup;
  for (int b = 0; b < padded; ++b)
    idct_block(plane + 8 * b, stride, coefficients + 64 * b, quant, centred);
  std::fill(coefficients, coefficients + 64 * padded, int16_t{0});
}

}  // namespace penstock::scalar
