// The least and the greatest level of an image, found part by part.
#pragma once

#include <cstdint>

#include "base/image.h"
#include "kernels/colour/lut.h"
#include "kernels/output.h"

namespace penstock {

/// The least and the greatest level of each channel; of a gray image only the first is set.
struct Extremes {
  uint8_t least[3];
  uint8_t greatest[3];
};

/// Those of one channel in lanes, so that vectors need not be reduced for every part of an image.
struct ExtremeLanes {
  static constexpr int kLanes = 64;
  alignas(64) uint8_t least[kLanes];
  alignas(64) uint8_t greatest[kLanes];
};

class ExtremeFinder final : public PartWatch {
 public:
  /// All parts of an image of so many channels are to come.
  void begin(int channels);

  /// `table` is applied on the way, if not null.
  void add(const PlanarView& part, const Lut* table);

  void start() override { begin(channels_); }
  void see(const PlanarView& part) override { add(part, nullptr); }

  Extremes found() const;

 private:
  int channels_ = 0;
  ExtremeLanes lanes_[3];
};

}  // namespace penstock
