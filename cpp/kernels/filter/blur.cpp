#include "kernels/filter/blur.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "kernels/filter/blur_rows.h"

namespace penstock {
namespace {

/// Index `p` of a side of `size` samples, reflected at both ends; at most size - 1 beyond them.
int reflected(int p, int size) {
  if (p < 0) return -p;
  return p < size ? p : 2 * (size - 1) - p;
}

/// The weights from the middle outwards, as torchvision's softmax over float32 positions.
void fill_weights(float* weight, int kernel_size, float sigma) {
  const int reach = kernel_size / 2;
  const float limit = static_cast<float>((kernel_size - 1) / (2.0 * std::numbers::sqrt2));
  const float step = kernel_size == 1 ? 0 : 2 * limit / static_cast<float>(kernel_size - 1);
  float sum = 0;
  for (int away = reach; away >= 0; --away) {
    const float position = limit - step * static_cast<float>(reach - away);
    const float scaled = (away == 0 ? 0 : position) / sigma;
    weight[away] = static_cast<float>(std::exp(-static_cast<double>(scaled * scaled)));
    sum += away == 0 ? weight[away] : 2 * weight[away];
  }
  for (int away = 0; away <= reach; ++away) weight[away] /= sum;
}

int blocks_of(int width) { return (width + kBlurBlock - 1) / kBlurBlock * kBlurBlock; }

/// A kernel: its two directions, from the middle outwards, and their product.
struct Kernel {
  int width, height;
  const float* across;
  const float* down;
  const float* whole;

  int reach_across() const { return width / 2; }
  int reach_down() const { return height / 2; }
};

Kernel make_kernel(const BlurSpec& spec, BlurScratch& scratch) {
  const int width = spec.kernel_width, height = spec.kernel_height;
  float* across = scratch.weights.reserve<float>(width / 2 + 1 + height / 2 + 1);
  float* down = across + width / 2 + 1;
  if (spec.weights[0] > 0) {
    std::copy_n(spec.weights, width / 2 + 1, across);
    std::copy_n(width == height ? spec.weights : spec.weights + width / 2 + 1, height / 2 + 1,
                down);
  } else {
    fill_weights(across, width, spec.sigma_across);
    fill_weights(down, height, spec.sigma_down);
  }
  float* whole = scratch.kernel.reserve<float>(static_cast<size_t>(width) * height);
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j)
      whole[static_cast<ptrdiff_t>(i) * width + j] =
          down[std::abs(i - height / 2)] * across[std::abs(j - width / 2)];
  return {width, height, across, down, whole};
}

/// Up to so many weights, summing over the whole kernel is as fast as in two directions.
constexpr int kSmallKernel = 9;

/// Rows whose doubts are settled together, since a few of them take as long as one.
constexpr int kRowsTogether = 16;

/// How far a sum in two directions may be from its level without being doubtful, if it is at most
/// `brightest`.
///
/// Each of torch's fused multiply-adds errs by half a unit in the last place of its result, which
/// is at most `brightest`, and at most 255 times the sum of the weights so far. In two directions
/// all terms are positive and go through at most reach + 1 roundings across and reach + 2 down,
/// each an error of 2^-24 of the sum; one more is that of the kernel's products. What is of higher
/// order is far below the hundredth that is added.
float sure_distance(const Kernel& kernel, double brightest) {
  constexpr double kUnit = 0x1p-24, kSlack = 1.01;
  const ptrdiff_t count = static_cast<ptrdiff_t>(kernel.width) * kernel.height;
  double weights = 0, error = 0;
  for (ptrdiff_t i = 0; i < count; ++i) {
    weights += kernel.whole[i];
    const double most = std::min(brightest, 255 * kSlack * weights);
    error += std::ldexp(kUnit, std::ilogb(std::max(most, 0x1p-20)));
  }
  const int roundings = kernel.reach_across() + 1 + kernel.reach_down() + 2 + 1;
  return static_cast<float>(0.5 - (error + 256 * kUnit * roundings) * kSlack);
}

/// The last rows of a channel, as many as a kernel covers that moves over kRowsTogether rows: as
/// floats with what the mirrors show at both ends, and blurred across.
class RowRing {
 public:
  RowRing(const PlanarView& in, const Kernel& kernel, bool blurs, BlurScratch& scratch)
      : in_(in),
        kernel_(kernel),
        blurs_(blurs),
        rows_(kernel.height + kRowsTogether - 1),
        margin_(blocks_of(kernel.reach_across())),
        kernels_(PENSTOCK_PICK(blur_rows)) {
    // Blocks may reach past the last pixel, and their kernels past that.
    padded_stride_ = blocks_of(in.width) + 2 * margin_ + kBlurBlock;
    blurred_stride_ = blocks_of(in.width);
    const size_t rows = rows_;
    padded_ = scratch.padded.reserve<float>(rows * padded_stride_);
    std::fill_n(padded_, rows * padded_stride_, 0.0f);
    blurred_ = scratch.rows.reserve<float>(rows * blurred_stride_);
  }

  /// Where the kernel begins to lie on row y if its middle is on the first pixel.
  const float* pixels(int y) const { return line(y) - kernel_.reach_across(); }
  const float* blurred(int y) const {
    return blurred_ + static_cast<ptrdiff_t>(y % rows_) * blurred_stride_;
  }

  void fill(int channel, int y) {
    float* to = line(y);
    kernels_.widen(to, in_.row(channel, y), in_.width);
    for (int x = 1; x <= kernel_.reach_across(); ++x) {
      to[-x] = to[x];
      to[in_.width - 1 + x] = to[in_.width - 1 - x];
    }
    if (blurs_)
      kernels_.across(const_cast<float*>(blurred(y)), to, kernel_.across, kernel_.reach_across(),
                      in_.width);
  }

 private:
  float* line(int y) const {
    return padded_ + static_cast<ptrdiff_t>(y % rows_) * padded_stride_ + margin_;
  }

  const PlanarView& in_;
  const Kernel& kernel_;
  bool blurs_;
  int rows_;
  int margin_;
  const BlurRows& kernels_;
  int padded_stride_;
  int blurred_stride_;
  float* padded_;
  float* blurred_;
};

}  // namespace

bool blur_fits(const BlurSpec& spec, int height, int width) {
  return spec.kernel_width / 2 < width && spec.kernel_height / 2 < height;
}

bool weights_fit(const BlurSpec& spec) {
  if (spec.weights[0] == 0) return true;
  const int across = spec.kernel_width / 2 + 1, down = spec.kernel_height / 2 + 1;
  const bool square = spec.kernel_width == spec.kernel_height;
  if (across + (square ? 0 : down) > kMostGivenWeights) return false;
  const auto add_up = [](const float* weights, int count) {
    double sum = weights[0];
    for (int i = 1; i < count; ++i) sum += 2.0 * weights[i];
    return std::abs(sum - 1) < 1e-3 &&
           std::all_of(weights, weights + count, [](float weight) { return weight >= 0; });
  };
  return add_up(spec.weights, across) && (square || add_up(spec.weights + across, down));
}

void gaussian_blur(const PlanarTarget& out, const PlanarView& in, const BlurSpec& spec,
                   BlurScratch& scratch) {
  const Kernel kernel = make_kernel(spec, scratch);
  const bool small = kernel.width * kernel.height <= kSmallKernel;
  const int reach = kernel.reach_down(), covered = kernel.height + kRowsTogether - 1;
  const float** pixels = scratch.row_pointers.reserve<const float*>(2 * covered);
  const float** blurred = pixels + covered;
  const BlurWindow window{kernel.whole, pixels, kernel.width, kernel.height};
  BlurDoubts doubts{};
  uint8_t* settled = nullptr;
  if (!small) {
    const size_t most = static_cast<size_t>(blocks_of(in.width)) * kRowsTogether + 1;
    // A dark sum is below 128 however it errs, and has one more bit for its fraction.
    doubts = {sure_distance(kernel, kBlurDark + 0.99), sure_distance(kernel, 255.5),
              scratch.doubtful.reserve<BlurPlace>(most), 0};
    settled = scratch.settled.reserve<uint8_t>(most);
  }

  const BlurRows& kernels = PENSTOCK_PICK(blur_rows);
  RowRing ring(in, kernel, !small, scratch);
  for (int c = 0; c < in.channels; ++c)
    for (int top = 0, filled = 0; top < in.height; top += kRowsTogether) {
      const int rows = std::min(kRowsTogether, in.height - top);
      for (; filled < in.height && filled < top + rows + reach; ++filled) ring.fill(c, filled);
      for (int i = 0; i < rows + 2 * reach; ++i) {
        const int from = reflected(top - reach + i, in.height);
        pixels[i] = ring.pixels(from);
        blurred[i] = ring.blurred(from);
      }
      for (int y = 0; y < rows; ++y)
        if (small)
          kernels.whole(out.row(c, top + y), window, y, in.width);
        else
          kernels.down(out.row(c, top + y), doubts, blurred + y, kernel.down, reach, in.width, y);
      kernels.at_places(settled, window, doubts.places, doubts.count);
      for (int i = 0; i < doubts.count; ++i)
        out.row(c, top + doubts.places[i].y)[doubts.places[i].x] = settled[i];
      doubts.count = 0;
    }
}

}  // namespace penstock
