#include "codec/reconstruct.h"

#include <algorithm>

#include "codec/reconstruct/paired_order.h"

namespace penstock {

bool can_upsample(int horizontal_ratio, int vertical_ratio) {
  // Sampling factors, and therefore their ratios, are at most 4.
  return horizontal_ratio >= 1 && horizontal_ratio <= 4 && vertical_ratio >= 1 &&
         vertical_ratio <= 4;
}

// Which inverse DCT gives blocks of a wanted size; and those that are not square.

namespace {

IdctRow square_idct_row(int size) {
  switch (size) {
    case 8:
      return PENSTOCK_PICK(idct_row);
    case 4:
      return PENSTOCK_PICK(idct_row_4x4);
    case 2:
      return PENSTOCK_PICK(idct_row_2x2);
    default:
      return idct_row_1x1;
  }
}

/// Square blocks first, then the average of every two rows (or columns).
template <int kSize, bool kHalvesRows>
void idct_row_halved(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                     const uint16_t* quant, bool centred) {
  constexpr int kWidth = kSize * kBlockGroup;
  constexpr int kRows = kHalvesRows ? kSize / 2 : kSize;
  constexpr int kColumns = kHalvesRows ? kWidth : kWidth / 2;
  const IdctRow square = square_idct_row(kSize);
  const int sign = centred ? 0x80 : 0;  // centred samples are signed; their averages are not
  uint8_t samples[kSize * kWidth];
  for (int done = 0; done < blocks; done += kBlockGroup) {
    square(samples, kWidth, coefficients, kBlockGroup, quant, centred);
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) {
        const uint8_t* first =
            kHalvesRows ? samples + 2 * y * kWidth + x : samples + y * kWidth + 2 * x;
        const int sum = (first[0] ^ sign) + (first[kHalvesRows ? kWidth : 1] ^ sign);
        plane[y * stride + x] = static_cast<uint8_t>(((sum + 1) >> 1) ^ sign);
      }
    coefficients += 64 * kBlockGroup;
    plane += kColumns;
  }
}

template <int kSize>
IdctRow halved_idct_row(bool halves_rows) {
  return halves_rows ? idct_row_halved<kSize, true> : idct_row_halved<kSize, false>;
}

}  // namespace

SparseQuant::SparseQuant(const uint16_t* quant) {
  std::copy_n(quant, 64, natural);
  for (int i = 0; i < 8; ++i)
    for (int word = 0; word < 8; ++word)
      paired[i][word] = quant[paired_place(i / 4, i / 2 % 2, i % 2, word)];
  for (int pair = 0; pair < 2; ++pair)
    for (int word = 0; word < 8; ++word)
      four_paired[pair][word] = quant[four_paired_place(pair, word)];
  is_byte = std::all_of(quant + 1, quant + 64, [](uint16_t value) { return value <= 255; });
}

IdctRow idct_row_to(int height, int width) {
  if (height == width) return square_idct_row(height);
  const bool halves_rows = height < width;
  switch (std::max(height, width)) {
    case 8:
      return halved_idct_row<8>(halves_rows);
    case 4:
      return halved_idct_row<4>(halves_rows);
    default:
      return halved_idct_row<2>(halves_rows);
  }
}

}  // namespace penstock
