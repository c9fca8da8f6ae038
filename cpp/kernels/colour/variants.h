// The kernels on pixels behind this folder's functions, one set for each instruction set.
//
// Files compiled for an instruction set keep their functions internal and use no inline function
// or template that another file may also emit: the linker could pick their copy for an older CPU.
#pragma once

#include <cstdint>

#include "base/image.h"
#include "kernels/colour/lut.h"

namespace penstock {

/// All may read, and those with a target may write, up to kRowSlack bytes past the end of rows.
/// `gray`, `saturate` and `turn_hue` want three channels.
struct ColourKernels {
  /// `out` may be `in`.
  void (*apply_lut)(const PlanarTarget& out, const PlanarView& in, const Lut& table);
  /// `table` is applied on the way, if not null.
  void (*find_extremes)(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                        const uint8_t* table);
  uint64_t (*sum_luma)(const PlanarView& image, const Lut* table);
  /// Into the first plane of `out`, which may be that of `in`.
  void (*gray)(const PlanarTarget& out, const PlanarView& in);
  void (*saturate)(const PlanarTarget& image, float factor);
  void (*turn_hue)(const PlanarTarget& image, uint8_t turn);
};

const ColourKernels& colour_kernels_scalar();
#if defined(__x86_64__)
const ColourKernels& colour_kernels_avx2();
const ColourKernels& colour_kernels_avx512();
#endif

/// The variant in use; see base/cpu.h.
const ColourKernels& colour_kernels();

void apply_lut_scalar(const PlanarTarget& out, const PlanarView& in, const Lut& table);
void find_extremes_scalar(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                          const uint8_t* table);
uint64_t sum_luma_scalar(const PlanarView& image, const Lut* table);
void gray_scalar(const PlanarTarget& out, const PlanarView& in);
void saturate_scalar(const PlanarTarget& image, float factor);
void turn_hue_scalar(const PlanarTarget& image, uint8_t turn);

void apply_lut_avx2(const PlanarTarget& out, const PlanarView& in, const Lut& table);
void find_extremes_avx2(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                        const uint8_t* table);
uint64_t sum_luma_avx2(const PlanarView& image, const Lut* table);
void gray_avx2(const PlanarTarget& out, const PlanarView& in);
void saturate_avx2(const PlanarTarget& image, float factor);
void turn_hue_avx2(const PlanarTarget& image, uint8_t turn);

void apply_lut_avx512(const PlanarTarget& out, const PlanarView& in, const Lut& table);
void find_extremes_avx512(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                          const uint8_t* table);
uint64_t sum_luma_avx512(const PlanarView& image, const Lut* table);
void gray_avx512(const PlanarTarget& out, const PlanarView& in);
void saturate_avx512(const PlanarTarget& image, float factor);
void turn_hue_avx512(const PlanarTarget& image, uint8_t turn);

}  // namespace penstock
