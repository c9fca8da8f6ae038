// Where finished pixels go, and what happens to them on the way: cast, scale, normalise, layout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/image.h"

namespace penstock {

struct LevelMap;
struct Placement;

enum class Element : int32_t { uint8 = 0, float16 = 1, bfloat16 = 2, float32 = 3 };
/// Planes apart; pixels of three bytes; or of four, as Pillow keeps them: the fourth is 255, and
/// only uint8 comes so.
enum class Layout : int32_t { chw = 0, hwc = 1, rgbx = 2 };

int size_of(Element element);

/// (x * scale / divisor - mean) / std * gain for each channel, every step rounded to float32 as
/// torch does it, then rounded once more to the nearest even for 16-bit elements.
///
/// torchvision's to_dtype multiplies by 1/255, its older ToTensor divides by 255, and a few of the
/// 256 results differ in the last bit: hence both a scale and a divisor, one of which is usually 1.
/// For the same reason there are std and gain: Albumentations multiplies where torchvision divides.
///
/// Only 256 inputs exist, so the tables are the definition. If `computable`, then
///   t = fma(x, scale_high, x * scale_low); s = t - mean; d = fma(s, std_high, s * std_low)
/// gives the same bits as float32[][] for all of them (checked when the pass is made), which lets
/// SIMD code compute instead of gather. Lane i of the constants belongs to channel i % 3, which
/// is the order of interleaved pixels.
struct FinalPass {
  static constexpr int kLanes = 48;

  float float32[3][256];
  uint16_t float16[3][256];
  uint16_t bfloat16[3][256];

  bool computable;
  alignas(64) float scale_high[kLanes];
  alignas(64) float scale_low[kLanes];
  alignas(64) float mean[kLanes];
  alignas(64) float std_high[kLanes];
  alignas(64) float std_low[kLanes];
};

inline constexpr float kUnitGain[3] = {1, 1, 1};

FinalPass make_final_pass(float scale, const float mean[3], const float std[3], float divisor = 1,
                          const float gain[3] = kUnitGain);

/// Lets a pass have these values for the levels, in the order channel, level. It stays computable
/// if it computes the same bits.
void set_values(FinalPass& pass, const float* values);

/// Work that can be done in small parts beside something else.
class SideWork {
 public:
  virtual ~SideWork() = default;
  /// The other work has done so many rows.
  virtual void step(int rows) = 0;
};

/// Sees an image in parts, each just after it was written: rows or pieces of rows, in any order,
/// every pixel once.
class PartWatch {
 public:
  virtual ~PartWatch() = default;
  /// All parts are to come. A decoder may begin anew, so that what was seen does not count.
  virtual void start() = 0;
  /// `part` has the image's number of channels.
  virtual void see(const PlanarView& part) = 0;
};

/// A place for one image of `height` x `width`.
///
/// `channels` is 3 for a batch slot (gray is repeated) and may be 1 for a working image.
/// Strides are in bytes: between rows, and for Layout::chw between planes; like the data, they are
/// aligned to the element.
/// uint8 output is not touched by the pass, which may then be null.
/// `past_cache` asks for stores that do not stay in this core's cache: set it when the whole batch
/// is larger than the cache, so that nobody could find the pixels there anyway. It is heeded for
/// floating-point rows that are whole, aligned cache lines.
/// `levels`, if any, are what levels become before any pass; it stays the caller's.
/// `placement`, if any, stays the caller's too. It gives the size of the place; `height` and
/// `width` are then those of the image, which is sent as ever. Not where somebody watches.
/// `beside`, if any, gets a step for each row that is written, and `watch` sees the row: bytes as
/// they come.
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
  bool past_cache = false;
  SideWork* beside = nullptr;
  PartWatch* watch = nullptr;
  const LevelMap* levels = nullptr;
  const Placement* placement = nullptr;
  bool blue_first = false;  // of three channels, the last comes first; the pass counts as they come
};

}  // namespace penstock
