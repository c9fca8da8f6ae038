// Where finished pixels go, and what happens to them on the way: cast, scale, normalise, layout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

enum class Element : int32_t { uint8 = 0, float16 = 1, bfloat16 = 2, float32 = 3 };
enum class Layout : int32_t { chw = 0, hwc = 1 };

int size_of(Element element);

/// (x * scale - mean) / std for each channel, every step rounded to float32 as torchvision does it.
///
/// Only 256 inputs exist, so the table is the definition. `reciprocal` says that
/// fma(s, std_high, s * std_low) gives the same bits as the division for all of them
/// (checked when the pass is made), which lets SIMD code compute instead of gather.
struct FinalPass {
  float table[3][256];
  float scale;
  float mean[3];
  float std[3];
  float std_high[3];
  float std_low[3];
  bool reciprocal;
};

FinalPass make_final_pass(float scale, const float mean[3], const float std[3]);

/// A place for one image of `height` x `width`.
///
/// `channels` is 3 for a batch slot (gray is repeated) and may be 1 for a working image.
/// Strides are in bytes: between rows, and for Layout::chw between planes.
/// uint8 output is not touched by the pass, which may then be null.
struct Output {
  void* data = nullptr;
  ptrdiff_t row_stride = 0;
  ptrdiff_t plane_stride = 0;
  int height = 0;
  int width = 0;
  int channels = 3;
  Layout layout = Layout::chw;
  Element element = Element::uint8;
  const FinalPass* pass = nullptr;
};

}  // namespace penstock
