// A loop that a compiler makes vectors of, where the set has some.
#include "kernels/colour/opencv_gray.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr uint32_t kRed = 9798, kGreen = 19235, kBlue = 3735, kHalf = 1 << 14;

/// `gray` may be `red`: each pixel is read before it is written.
void turn_row(uint8_t* gray, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
              int count) {
#pragma GCC ivdep
  for (int x = 0; x < count; ++x)
    gray[x] =
        static_cast<uint8_t>((red[x] * kRed + green[x] * kGreen + blue[x] * kBlue + kHalf) >> 15);
}

}  // namespace

void turn_gray_as_opencv(const PlanarTarget& image) {
  for (int y = 0; y < image.height; ++y)
    turn_row(image.row(0, y), image.row(0, y), image.row(1, y), image.row(2, y), image.width);
}

}  // namespace penstock::PENSTOCK_ISA
