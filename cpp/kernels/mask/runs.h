// Masks of single objects as run lengths: read, and drawn where a map says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/mask/mask_map.h"

namespace penstock {

/// The masks of one sample as docs/format.md describes them: views of what lies in the file.
struct RunMasks {
  int count = 0;
  int height = 0;
  int width = 0;
  std::span<const uint8_t> ends;  // 4 bytes for each mask
  std::span<const uint8_t> runs;

  /// Throws Error, without the sample's name, if the header or an end does not fit.
  static RunMasks read(std::span<const uint8_t> encoded);

  /// The run lengths of one mask; `number` must be below `count`.
  std::span<const uint8_t> of(int number) const;
};

/// A stretch of pixels inside an object, counted row by row.
struct Run {
  int64_t begin;
  int64_t end;
};

/// Sets `out` to the runs of a mask of `pixels` pixels, which rise and do not touch.
/// Throws Error if they are damaged.
void read_runs(std::vector<Run>& out, std::span<const uint8_t> encoded, int64_t pixels);

/// What a worker keeps between masks, and between the masks of a sample what depends on its map.
class RunDrawer {
 public:
  /// To be called before the masks of a sample; `map` must live until they are drawn.
  void begin(const MaskMap& map);

  /// Fills `out` (height x width of the map) with 1 inside the object and 0 elsewhere.
  void draw(uint8_t* out, std::span<const uint8_t> encoded);

 private:
  void draw_row(uint8_t* out, int32_t row);
  void draw_pixels(uint8_t* out);

  const MaskMap* map_ = nullptr;
  std::vector<Run> runs_;
  /// Where columns never fall, or never rise: the outputs of source columns [a, b) are
  /// [edge_[a], edge_[b]), or [edge_[b], edge_[a]) if they fall. Empty otherwise.
  std::vector<int32_t> edge_;
  bool falls_ = false;
  std::vector<uint8_t> bytes_;
};

/// The same as RunDrawer, a pixel at a time: what the tests compare with.
void draw_runs_scalar(uint8_t* out, std::span<const uint8_t> encoded, const MaskMap& map);

}  // namespace penstock
