#include "kernels/warp/elastic.h"

#include <algorithm>
#include <cmath>

#include "kernels/filter/blur_rows.h"
#include "kernels/random/numbers.h"
#include "kernels/warp/warp_rows.h"
#include "kernels/warp/warp_scalar.h"

namespace penstock {
namespace {

/// Half the width of torchvision's kernel for this sigma, which is odd: int(8 sigma + 1) or one
/// more.
int radius_for(double sigma) { return (static_cast<int>(8 * sigma + 1) | 1) / 2; }

/// The pixel of a row of `size` that lies at `i` when its ends are mirrors.
int reflected(int i, int size) {
  if (size == 1) return 0;
  const int period = 2 * (size - 1);
  const int within = (i % period + period) % period;
  return std::min(within, period - within);
}

/// The weights from the middle on.
void gaussian(float* weights, int radius, double sigma) {
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) sum += std::exp(-i * i / (2 * sigma * sigma));
  for (int i = 0; i <= radius; ++i)
    weights[i] = static_cast<float>(std::exp(-i * i / (2 * sigma * sigma)) / sum);
}

struct Plane {
  float* values;
  int height;
  int width;

  float* row(int y) const { return values + static_cast<ptrdiff_t>(y) * width; }
};

/// Numbers between -1 and 1. The planes have no room for a last vector, so that one goes elsewhere.
void scatter(float* dx, float* dy, uint64_t pixels, PhiloxKey key) {
  constexpr int kStep = 16 * kPairsAtOnce;
  const auto make = PENSTOCK_PICK(uniform_pairs);
  uint64_t done = 0;
  for (; done + kStep <= pixels; done += kStep) make(dx + done, dy + done, done, kStep, key);
  float across[kStep], down[kStep];
  make(across, down, done, kStep, key);
  std::copy_n(across, pixels - done, dx + done);
  std::copy_n(down, pixels - done, dy + done);
}

/// Smooths planes of one width, a row at a time, in memory with room for whole blocks.
class Smoothing {
 public:
  Smoothing(const Plane& plane, int radius, Buffer& scratch)
      : plane_(plane), radius_(radius), stride_(whole_blocks(plane.width)) {
    const size_t reach = radius, rows = plane.height + 2 * reach, stride = stride_;
    const size_t floats = (plane.height + 1) * stride + 3 * reach + 1 + stride;
    // Rows that are vectors' sources come first, since those are fastest from aligned memory.
    copy_ = reinterpret_cast<float*>(
        scratch.reserve(floats * sizeof(float) + rows * sizeof(const float*)));
    finished_ = copy_ + plane.height * stride;
    rows_ = reinterpret_cast<const float**>(finished_ + stride);
    weights_ = reinterpret_cast<float*>(rows_ + rows);
    padded_ = weights_ + reach + 1;
  }

  /// torchvision's kernel is as wide as it is high, whatever the two sigmas are. What is not
  /// smoothed is only multiplied.
  void run(double sigma_across, double sigma_down, float factor) {
    if (sigma_across > 0) {
      gaussian(weights_, radius_, sigma_across);
      for (int y = 0; y < plane_.height; ++y) smooth_across(y);
    } else {
      for (int y = 0; y < plane_.height; ++y) std::copy_n(plane_.row(y), plane_.width, copied(y));
    }
    if (sigma_down > 0) {
      gaussian(weights_, radius_, sigma_down);
      for (int y = -radius_; y < plane_.height + radius_; ++y)
        rows_[y + radius_] = copied(reflected(y, plane_.height));
    }
    for (int y = 0; y < plane_.height; ++y) {
      if (sigma_down > 0)
        PENSTOCK_PICK(blur_rows).down_to_floats(finished_, rows_ + y, weights_, radius_,
                                                plane_.width);
      const float* from = sigma_down > 0 ? finished_ : copied(y);
      float* to = plane_.row(y);
      for (int x = 0; x < plane_.width; ++x) to[x] = from[x] * factor;
    }
  }

 private:
  static int whole_blocks(int width) { return (width + kBlurBlock - 1) / kBlurBlock * kBlurBlock; }

  float* copied(int y) const { return copy_ + static_cast<ptrdiff_t>(y) * stride_; }

  void smooth_across(int y) {
    const float* row = plane_.row(y);
    float* const first = padded_ + radius_;
    std::copy_n(row, plane_.width, first);
    for (int i = 1; i <= radius_; ++i) {
      first[-i] = row[reflected(-i, plane_.width)];
      first[plane_.width - 1 + i] = row[reflected(plane_.width - 1 + i, plane_.width)];
    }
    PENSTOCK_PICK(blur_rows).across(copied(y), first, weights_, radius_, plane_.width);
  }

  Plane plane_;
  int radius_;
  int stride_;
  float* copy_;         // the plane, smoothed across
  float* finished_;     // a row, smoothed both ways
  const float** rows_;  // of the copy, with those that the mirrors show above and below
  float* weights_;
  float* padded_;  // a row of the plane, with what the mirrors show at both ends
};

void smooth(const Plane& plane, double sigma, double alpha, const ElasticSpec& spec,
            Buffer& scratch) {
  const auto factor = static_cast<float>(alpha / 2);
  if (sigma > 0) {
    Smoothing(plane, radius_for(sigma), scratch).run(spec.sigma_across, spec.sigma_down, factor);
    return;
  }
  const size_t pixels = static_cast<size_t>(plane.height) * plane.width;
  for (size_t i = 0; i < pixels; ++i) plane.values[i] *= factor;
}

}  // namespace

void elastic_field(float* dx, float* dy, int height, int width, const ElasticSpec& spec,
                   PhiloxKey key, Buffer& scratch) {
  scatter(dx, dy, static_cast<uint64_t>(height) * width, key);
  smooth({dx, height, width}, spec.sigma_across, spec.alpha_across, spec, scratch);
  smooth({dy, height, width}, spec.sigma_down, spec.alpha_down, spec, scratch);
}

void warp_displaced(const PlanarTarget& out, const PlanarView& in, const float* dx, const float* dy,
                    Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch) {
  const WarpFrame frame = whole_frame(out, in);
  if (!has_vectors(in, frame)) return warp_displaced_scalar(out, in, dx, dy, filter, fill);
  const DisplacedRows& kernels = *PENSTOCK_PICK(displaced_rows);
  const uint32_t colour = word_of(fill);
  const bool takes_pixels = filter == Filter::nearest;
  const BorderedImage image = takes_pixels
                                  ? make_filled_border(in, frame, {}, colour, scratch.words)
                                  : make_repeated_border(in, frame, {}, scratch.words);
  DisplacedPlaces places;
  alignas(64) int32_t at[kPartPixels];
  for_each_part(out, frame, 1, [&](const RowPart& part) {
    const ptrdiff_t first = static_cast<ptrdiff_t>(part.y) * out.width + part.x;
    kernels.displace(places, part, dx + first, dy + first);
    if (takes_pixels) {
      kernels.nearest(at, part, image, places);
      warp_rows().copy(part, image.first, at);
    } else {
      (filter == Filter::bilinear ? kernels.bilinear : kernels.bicubic)(part, image, places,
                                                                        colour);
    }
  });
}

}  // namespace penstock
