// A sink that keeps what it is sent, and checks that bands arrive as promised.
#pragma once

#include <cstring>
#include <vector>

#include "base/image.h"
#include "check.h"

namespace penstock::testing {

struct Pixels {
  int height = 0;
  int width = 0;
  int channels = 0;
  std::vector<uint8_t> bytes;  // planes, one after the other

  const uint8_t* row(int channel, int y) const {
    return bytes.data() + (size_t{1} * channel * height + y) * width;
  }

  Pixels cut(const Region& region) const {
    Pixels part{region.height, region.width, channels, {}};
    for (int c = 0; c < channels; ++c)
      for (int y = 0; y < region.height; ++y) {
        const uint8_t* from = row(c, region.top + y) + region.left;
        part.bytes.insert(part.bytes.end(), from, from + region.width);
      }
    return part;
  }

  friend bool operator==(const Pixels&, const Pixels&) = default;
};

class CollectRows : public RowSink {
 public:
  void take(const PlanarView& rows, int first_row) override {
    CHECK(first_row == height_);
    CHECK(height_ % kBandRows == 0);
    CHECK(rows.height > 0 && rows.width > 0);
    CHECK(rows.channels == 1 || rows.channels == 3);
    CHECK(height_ == 0 || (rows.width == width_ && rows.channels == channels_));
    width_ = rows.width;
    channels_ = rows.channels;
    height_ += rows.height;
    for (int c = 0; c < rows.channels; ++c)
      for (int y = 0; y < rows.height; ++y)
        plane_[c].insert(plane_[c].end(), rows.row(c, y), rows.row(c, y) + rows.width);
  }

  Pixels pixels() const {
    Pixels all{height_, width_, channels_, {}};
    for (int c = 0; c < channels_; ++c)
      all.bytes.insert(all.bytes.end(), plane_[c].begin(), plane_[c].end());
    return all;
  }

 private:
  int height_ = 0;
  int width_ = 0;
  int channels_ = 0;
  std::vector<uint8_t> plane_[3];
};

}  // namespace penstock::testing
