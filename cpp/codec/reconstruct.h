// From quantised coefficients to RGB rows: inverse DCT, chroma upsampling and colour conversion,
// bit-identical to libjpeg-turbo's x86 SIMD "islow" DCT with fancy upsampling.
//
// Luma planes hold samples 0..255. Chroma planes hold sample - 128 as int8: all of libjpeg's
// formulas are exact under that shift.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"

namespace penstock {

/// Coefficient rows are padded to a multiple of this many blocks.
inline constexpr int kBlockGroup = 4;

/// Transforms `blocks` blocks that lie side by side. Any coefficients and quantisers are fine:
/// what overflows in libjpeg-turbo overflows here in the same way.
///
/// - `coefficients`: 64 int16 per block, natural order, 64-byte aligned; read and then zeroed,
///   up to the next multiple of kBlockGroup.
/// - `quant`: 64 values, natural order.
/// - `plane`: first sample of the first block; 8 rows of at least
///   round_up(blocks, kBlockGroup) * 8 writable bytes.
/// - `centred`: write sample - 128 (chroma) instead of the sample.
PENSTOCK_VARIANTS(void idct_row(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                                const uint16_t* quant, bool centred))

using IdctRow = decltype(&scalar::idct_row);

/// One block by the plain version; its coefficients are left alone. The vector versions hand over
/// what overflows.
namespace scalar {
void idct_block(uint8_t* plane, ptrdiff_t stride, const int16_t* block, const uint16_t* quant,
                bool centred);
}

/// One component's decoded samples, of which only a part may be in memory.
struct SamplePlane {
  const uint8_t* origin = nullptr;  // sample (top, left)
  ptrdiff_t stride = 0;
  int top = 0;  // component coordinates of the first sample in memory
  int left = 0;
  int height = 0;  // true size of the component: ceil(image size * factor / max factor)
  int width = 0;
  int horizontal_ratio = 1;  // max factor / own factor
  int vertical_ratio = 1;
};

/// Scratch for one row of upsampling: each at least right - left + kUpsampleSlack bytes.
struct UpsampleRow {
  int8_t* blue;
  int8_t* red;
};

inline constexpr int kUpsampleSlack = 128;

/// Image row y, columns [left, right), of a YCbCr image to three RGB rows.
///
/// - Luma has ratios 1 and 1; the two chroma planes may differ in theirs.
/// - Chroma row y / ratio and the neighbour that fancy upsampling looks at must be in memory
///   (rows outside the component are replicated), as must the columns of the window and one more
///   on each side, as far as the component reaches.
/// - At least kRowSlack bytes around every plane row in memory are readable.
/// - Outputs may be written up to kRowSlack bytes past right - left.
PENSTOCK_VARIANTS(void rgb_row(uint8_t* red, uint8_t* green, uint8_t* blue, const SamplePlane& luma,
                               const SamplePlane (&chroma)[2], int y, int left, int right,
                               const UpsampleRow& scratch))

using RgbRow = decltype(&scalar::rgb_row);

/// True if rgb_row handles a chroma plane of these ratios as libjpeg does. Sampling factors whose
/// ratio is not integral, or where luma has not the largest factors, are libjpeg's business.
bool can_upsample(int horizontal_ratio, int vertical_ratio);

// The inverse DCT of blocks that come as their few non-zero coefficients, in zigzag order.

/// The first three arrays are indexed by block.
struct SparseBlocks {
  const int16_t* dc;      // first coefficient
  const uint64_t* mask;   // bit i: zigzag position i is not zero; bit 0 is not set
  const uint16_t* first;  // of a block's values
  const int8_t* values;   // in zigzag order, or their low bytes; 64 more than there are may be read
  const int8_t* high;     // bytes of the values, or nullptr if all of them fit a byte
};

/// A component's quantisers, in the orders in which variants want them.
struct SparseQuant {
  /// `quant`: 64 values, natural order.
  explicit SparseQuant(const uint16_t* quant);
  SparseQuant() = default;

  alignas(64) uint16_t natural[64];
  alignas(64) uint16_t paired[8][8];  // see reconstruct/paired_order.h
  alignas(64) uint16_t four_paired[2][8];
  bool is_byte;  // whether all but the first fit a byte
};

/// Transforms the kBlockGroup blocks from `first` on, with the same samples as IdctRow would give.
/// `plane` and `centred` are as there.
PENSTOCK_VARIANTS(void sparse_idct(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks,
                                   int first, const SparseQuant& quant, bool centred))

using SparseIdct = decltype(&scalar::sparse_idct);

// Inverse DCTs that turn a block of 8x8 coefficients into fewer samples: those of an image of that
// much lower resolution. Frequencies that such an image cannot hold are left out.

/// The transform to height x width samples per block, for `IdctRow`'s arguments: it writes `height`
/// rows of round_up(blocks, kBlockGroup) * width bytes.
///
/// - Sides are 8, 4, 2 or 1, and equal unless one is twice the other.
/// - Any coefficients and quantisers are fine: products wrap around to 16 bits, and all variants
///   give the same samples. Valid ones are within one level of the real transform.
/// - To a single sample, only the first coefficient of each block may be set.
IdctRow idct_row_to(int height, int width);

// Four blocks fill AVX2's registers; wider ones would need longer rows.
PENSTOCK_NARROW_VARIANTS(void idct_row_4x4(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients,
                                           int blocks, const uint16_t* quant, bool centred))
PENSTOCK_NARROW_VARIANTS(void idct_row_2x2(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients,
                                           int blocks, const uint16_t* quant, bool centred))
void idct_row_1x1(uint8_t* plane, ptrdiff_t stride, int16_t* coefficients, int blocks,
                  const uint16_t* quant, bool centred);

/// The last one for first coefficients that lie side by side; `quant` is that of them all.
void samples_of_dc(uint8_t* plane, const int16_t* dc, int blocks, uint16_t quant, bool centred);

}  // namespace penstock
