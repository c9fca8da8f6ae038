#include "kernels/lanes/lanes.h"
#include "kernels/tensor/convolve.h"

namespace penstock::PENSTOCK_ISA {
namespace {

// Several vectors at a time: their sums are independent, which hides the latency of additions.
constexpr int kVectors = Lanes::kCount == 1 ? 1 : 4;
constexpr int kStep = kVectors * Lanes::kCount;

void sum_block(float* target, const float* source, int width, const ConvolutionKernel& kernel) {
  Lanes::Floats sums[kVectors] = {};
  const float* weight = kernel.weights;
  for (int i = 0; i < kernel.height; ++i, source += width)
    for (int j = 0; j < kernel.width; ++j, ++weight)
      for (int v = 0; v < kVectors; ++v)
        sums[v] =
            Lanes::multiply_add(Lanes::load(source + j + v * Lanes::kCount), *weight, sums[v]);
  for (int v = 0; v < kVectors; ++v) Lanes::store(target + v * Lanes::kCount, sums[v]);
}

float sum_one(const float* source, int width, const ConvolutionKernel& kernel) {
  float sum = 0;
  const float* weight = kernel.weights;
  for (int i = 0; i < kernel.height; ++i, source += width)
    for (int j = 0; j < kernel.width; ++j, ++weight) sum = __builtin_fmaf(source[j], *weight, sum);
  return sum;
}

}  // namespace

void convolve_plane(float* target, const float* source, int height, int width,
                    const ConvolutionKernel& kernel) {
  const int rows = height - kernel.height + 1, columns = width - kernel.width + 1;
  for (int y = 0; y < rows; ++y, source += width, target += columns) {
    int x = 0;
    for (; x + kStep <= columns; x += kStep) sum_block(target + x, source + x, width, kernel);
    if (x < columns && columns >= kStep) {  // some of the last block's are there already
      x = columns - kStep;
      sum_block(target + x, source + x, width, kernel);
      continue;
    }
    for (; x < columns; ++x) target[x] = sum_one(source + x, width, kernel);
  }
}

}  // namespace penstock::PENSTOCK_ISA
