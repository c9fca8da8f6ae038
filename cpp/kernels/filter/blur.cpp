#include "kernels/filter/blur.h"

#include <algorithm>
#include <cmath>
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

/// Blurs across, row by row, into a ring of as many rows as the kernel is high.
class RowRing {
 public:
  RowRing(const PlanarView& in, const BlurSpec& spec, const float* weight, BlurScratch& scratch)
      : in_(in),
        rows_(spec.kernel_height),
        reach_(spec.kernel_width / 2),
        stride_(blocks_of(in.width)),
        weight_(weight),
        kernels_(blur_rows()) {
    // Blocks may reach past the last pixel, and their kernels past that.
    margin_ = blocks_of(reach_);
    padded_ =
        scratch.padded.reserve<float>(static_cast<size_t>(stride_) + 2 * margin_ + kBlurBlock);
    std::fill_n(padded_, stride_ + 2 * margin_ + kBlurBlock, 0.0f);
    ring_ = scratch.rows.reserve<float>(static_cast<size_t>(stride_) * rows_);
  }

  float* row(int y) const { return ring_ + static_cast<ptrdiff_t>(y % rows_) * stride_; }

  void fill(int channel, int y) {
    float* line = padded_ + margin_;
    kernels_.widen(line, in_.row(channel, y), in_.width);
    for (int x = 1; x <= reach_; ++x) {
      line[-x] = line[x];
      line[in_.width - 1 + x] = line[in_.width - 1 - x];
    }
    kernels_.across(row(y), line, weight_, reach_, in_.width);
  }

 private:
  const PlanarView& in_;
  int rows_;
  int reach_;
  int stride_;
  int margin_;
  const float* weight_;
  const BlurRows& kernels_;
  float* padded_;
  float* ring_;
};

}  // namespace

bool blur_fits(const BlurSpec& spec, int height, int width) {
  return spec.kernel_width / 2 < width && spec.kernel_height / 2 < height;
}

void gaussian_blur(const PlanarTarget& out, const PlanarView& in, const BlurSpec& spec,
                   BlurScratch& scratch) {
  const int reach = spec.kernel_height / 2;
  float* across = scratch.weights.reserve<float>(spec.kernel_width / 2 + 1 + reach + 1);
  float* down = across + spec.kernel_width / 2 + 1;
  fill_weights(across, spec.kernel_width, spec.sigma_across);
  fill_weights(down, spec.kernel_height, spec.sigma_down);
  const float** rows = scratch.row_pointers.reserve<const float*>(spec.kernel_height);

  const BlurRows& kernels = blur_rows();
  RowRing ring(in, spec, across, scratch);
  for (int c = 0; c < in.channels; ++c)
    for (int y = 0, filled = 0; y < in.height; ++y) {
      for (; filled < in.height && filled <= y + reach; ++filled) ring.fill(c, filled);
      for (int i = 0; i < spec.kernel_height; ++i)
        rows[i] = ring.row(reflected(y - reach + i, in.height));
      kernels.down(out.row(c, y), rows, down, reach, in.width);
    }
}

}  // namespace penstock
