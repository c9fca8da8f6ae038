// Images and draws for the kernel tests, with memory laid out so that sanitizers see every stray
// read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "base/image.h"

namespace penstock {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}

  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool coin() { return between(0, 1) == 1; }

 private:
  std::mt19937 engine_;
};

/// A planar image without any slack; mostly black and white, so that overshoot gets clipped.
struct RandomImage {
  RandomImage(Draw& draw, int image_height, int image_width, int image_channels)
      : height(image_height), width(image_width), channels(image_channels) {
    samples.resize(static_cast<size_t>(height) * width * channels);
    for (uint8_t& sample : samples) {
      const int level = draw.between(-150, 405);
      sample = static_cast<uint8_t>(level < 0 ? 0 : level > 255 ? 255 : level);
    }
  }

  uint8_t at(int channel, int y, int x) const {
    return samples[(static_cast<size_t>(channel) * height + y) * width + x];
  }

  int height;
  int width;
  int channels;
  std::vector<uint8_t> samples;
};

/// Planes as the engine makes them: kRowSlack bytes behind every row, and not one more. Every plane
/// is an allocation of its own.
class SlackImage {
 public:
  SlackImage(int height, int width, int channels) {
    image = {{}, width + kRowSlack, height, width, channels};
    for (int c = 0; c < channels; ++c) {
      planes_[c].resize(static_cast<size_t>(image.stride) * height);
      image.plane[c] = planes_[c].data();
    }
  }
  explicit SlackImage(const RandomImage& source)
      : SlackImage(source.height, source.width, source.channels) {
    for (int c = 0; c < source.channels; ++c)
      for (int y = 0; y < source.height; ++y)
        for (int x = 0; x < source.width; ++x) image.row(c, y)[x] = source.at(c, y, x);
  }
  SlackImage(const SlackImage& other)
      : SlackImage(other.image.height, other.image.width, other.image.channels) {
    for (int c = 0; c < image.channels; ++c)
      std::copy(other.planes_[c].begin(), other.planes_[c].end(), planes_[c].begin());
  }

  /// Without the slack.
  std::vector<uint8_t> samples() const {
    std::vector<uint8_t> all;
    for (int c = 0; c < image.channels; ++c)
      for (int y = 0; y < image.height; ++y)
        all.insert(all.end(), image.row(c, y), image.row(c, y) + image.width);
    return all;
  }

  PlanarTarget image;

 private:
  std::vector<uint8_t> planes_[3];
};

/// Feeds a region in bands of random height. Every band is an allocation of its own, of which
/// exactly kRowSlack bytes past the last row may be read.
inline void feed_in_bands(RowSink& sink, const RandomImage& image, const Region& region,
                          Draw& draw) {
  const size_t stride = static_cast<size_t>(region.width) + kRowSlack;
  for (int y = 0; y < region.height;) {
    const int wanted = kBandRows * draw.between(1, 5);
    const int rows = wanted < region.height - y ? wanted : region.height - y;
    std::unique_ptr<uint8_t[]> planes[3];
    PlanarView band{{}, static_cast<ptrdiff_t>(stride), rows, region.width, image.channels};
    for (int c = 0; c < image.channels; ++c) {
      planes[c] = std::make_unique<uint8_t[]>(rows * stride);
      band.plane[c] = planes[c].get();
      for (int r = 0; r < rows; ++r)
        for (int x = 0; x < region.width; ++x)
          planes[c][r * stride + x] = image.at(c, region.top + y + r, region.left + x);
    }
    sink.take(band, y);
    y += rows;
  }
}

}  // namespace penstock
