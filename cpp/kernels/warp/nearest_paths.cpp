#include "kernels/warp/nearest_paths.h"

#include <cmath>

namespace penstock {
namespace {

bool corner_fits(const double (&m)[6], int x, int y) {
  constexpr double kLimit = 32768.0;
  return std::fabs(x * m[0] + y * m[1] + m[2]) < kLimit &&
         std::fabs(x * m[3] + y * m[4] + m[5]) < kLimit;
}

uint32_t fixed(double value) {
  return static_cast<uint32_t>(to_int32(std::floor(value * 65536.0 + 0.5)));
}

}  // namespace

bool fits_fixed(const double (&matrix)[6], int height, int width) {
  return corner_fits(matrix, 0, 0) && corner_fits(matrix, width, height) &&
         corner_fits(matrix, 0, height) && corner_fits(matrix, width, 0);
}

FixedMatrix to_fixed(const double (&m)[6]) {
  return {fixed(m[0]), fixed(m[1]), fixed(m[2] + m[0] * 0.5 + m[1] * 0.5),
          fixed(m[3]), fixed(m[4]), fixed(m[5] + m[3] * 0.5 + m[4] * 0.5)};
}

}  // namespace penstock
