#include "kernels/filter/box_blur.h"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

constexpr int kMargin = kBoxBlock;
static_assert(kLargestBoxRadius < kMargin && kBoxBlock <= kRowSlack);

/// Up to so large a radius, adding up a box anew for each row is as fast as letting sums go along.
constexpr int kSmallRadius = 7;
constexpr int kMostTaps = 2 * kSmallRadius + 3;

BoxWeights weights_of(float radius) {
  constexpr uint32_t kOne = 1 << 24;
  const int whole = static_cast<int>(radius);
  // Pillow divides in single precision, and cuts off.
  const auto inside = static_cast<uint32_t>(static_cast<float>(kOne) / (radius * 2 + 1));
  return {whole, inside, (kOne - static_cast<uint32_t>(2 * whole + 1) * inside) / 2};
}

int blocks_of(int width) { return (width + kBoxBlock - 1) / kBoxBlock * kBoxBlock; }

/// All passes along a row.
class Across {
 public:
  Across(float radius, int passes, int width, Buffer& memory)
      : weights_(weights_of(radius)), passes_(radius > 0 ? passes : 0), width_(width) {
    // Blocks may reach past the last pixel, and their boxes past that.
    const size_t stride = blocks_of(width) + 2 * kMargin;
    here_ = memory.reserve<uint16_t>(3 * stride) + kMargin;
    next_ = here_ + stride;
    sums_ = next_ + stride;
    std::fill_n(here_ - kMargin, 3 * stride, uint16_t{0});
  }

  /// `out` has room for whole blocks.
  void run(uint16_t* out, const uint8_t* in) {
    if (passes_ == 0) return kernels_.widen(out, in, width_);
    kernels_.widen(here_, in, width_);
    for (int pass = 1; pass <= passes_; ++pass) {
      const int reach = weights_.radius + 1;
      std::fill_n(here_ - reach, reach, here_[0]);
      std::fill_n(here_ + width_, reach, here_[width_ - 1]);
      mean(pass == passes_ ? out : next_);
      std::swap(here_, next_);
    }
  }

 private:
  void mean(uint16_t* out) {
    const int radius = weights_.radius, reach = radius + 1;
    if (radius <= kSmallRadius) {
      const uint16_t* taps[kMostTaps];
      for (int i = 0; i <= 2 * reach; ++i) taps[i] = here_ - reach + i;
      return kernels_.mean(out, taps, weights_, width_);
    }
    uint32_t sum = 0;
    for (int x = -radius; x < radius; ++x) sum += here_[x];
    for (int x = 0; x < width_; ++x) {
      sum += here_[x + radius];
      sums_[x] = static_cast<uint16_t>(sum);
      sum -= here_[x - radius];
    }
    kernels_.mean_of_sums(out, sums_, here_ - reach, here_ + reach, weights_, width_);
  }

  BoxWeights weights_;
  int passes_;
  int width_;
  uint16_t* here_;
  uint16_t* next_;
  uint16_t* sums_;
  const BoxRows& kernels_ = PENSTOCK_PICK(box_rows);
};

/// All passes down, at once: a row goes on to the next pass as soon as the rows around it are
/// there, so that each pass only keeps the rows that its box lies on.
class Down {
 public:
  Down(const PlanarTarget& out, const BoxBlurSpec& spec, Buffer& memory)
      : out_(out),
        weights_(weights_of(spec.radius_down)),
        passes_(spec.radius_down > 0 ? spec.passes : 0),
        rows_(std::min(2 * weights_.radius + 3, out.height)),
        stride_(blocks_of(out.width)) {
    const size_t rows = static_cast<size_t>(passes_ + 1) * rows_;
    ring_ = memory.reserve<uint16_t>((rows + passes_) * stride_);
    sums_ = ring_ + rows * stride_;
  }

  void begin(int channel) {
    channel_ = channel;
    std::fill_n(done_, passes_, 0);
  }

  /// Where row y goes before `take` is called, rows one after the other.
  uint16_t* place(int y) { return row(0, y); }

  void take(int y) { take(0, y); }

 private:
  uint16_t* row(int pass, int y) const {
    return ring_ + (static_cast<ptrdiff_t>(pass) * rows_ + y % rows_) * stride_;
  }

  /// Row y is there before this pass.
  void take(int pass, int y) {
    if (pass == passes_) return kernels_.narrow(out_.row(channel_, y), row(pass, y), out_.width);
    const int last = out_.height - 1, ready = y == last ? last : y - weights_.radius - 1;
    while (done_[pass] <= ready) {
      const int middle = done_[pass]++;
      mean(pass, middle);
      take(pass + 1, middle);
    }
  }

  void mean(int pass, int middle) {
    const int radius = weights_.radius, reach = radius + 1;
    uint16_t* out = row(pass + 1, middle);
    if (radius <= kSmallRadius) {
      const uint16_t* taps[kMostTaps];
      for (int i = 0; i <= 2 * reach; ++i) taps[i] = nearest_row(pass, middle - reach + i);
      return kernels_.mean(out, taps, weights_, out_.width);
    }
    uint16_t* sums = sums_ + pass * stride_;
    const uint16_t* first = nearest_row(pass, middle - reach);
    if (middle > 0)
      kernels_.slide(sums, nearest_row(pass, middle + radius), first, out_.width);
    else
      add_up(sums, pass);
    kernels_.mean_of_sums(out, sums, first, nearest_row(pass, middle + reach), weights_,
                          out_.width);
  }

  /// The sums for the first row.
  void add_up(uint16_t* sums, int pass) const {
    const uint16_t* first = row(pass, 0);
    for (int x = 0; x < out_.width; ++x)
      sums[x] = static_cast<uint16_t>((weights_.radius + 1) * first[x]);
    for (int i = 1; i <= weights_.radius; ++i) {
      const uint16_t* below = nearest_row(pass, i);
      for (int x = 0; x < out_.width; ++x) sums[x] = static_cast<uint16_t>(sums[x] + below[x]);
    }
  }

  const uint16_t* nearest_row(int pass, int y) const {
    return row(pass, std::clamp(y, 0, out_.height - 1));
  }

  const PlanarTarget& out_;
  BoxWeights weights_;
  int passes_;
  int rows_;
  ptrdiff_t stride_;
  uint16_t* ring_;
  uint16_t* sums_;
  int channel_ = 0;
  int done_[kMostBoxPasses] = {};  // rows after each pass
  const BoxRows& kernels_ = PENSTOCK_PICK(box_rows);
};

}  // namespace

void box_blur(const PlanarTarget& out, const PlanarView& in, const BoxBlurSpec& spec,
              BoxBlurScratch& scratch) {
  Across across(spec.radius_across, spec.passes, in.width, scratch.rows);
  Down down(out, spec, scratch.rings);
  for (int c = 0; c < in.channels; ++c) {
    down.begin(c);
    for (int y = 0; y < in.height; ++y) {
      across.run(down.place(y), in.row(c, y));
      down.take(y);
    }
  }
}

}  // namespace penstock
