#include "kernels/warp/nearest_paths.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace penstock {
namespace {

constexpr uint32_t kOne = 1u << 16;

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

bool moves_whole_pixels(const double (&m)[6]) {
  constexpr double kFarther = 1 << 25;  // than any image is large; sums up to here are exact
  const auto is_whole = [](double v) { return std::fabs(v) < kFarther && std::floor(v) == v; };
  return m[0] == 1 && m[4] == 1 && only_scales(m) && is_whole(m[2]) && is_whole(m[5]);
}

bool find_row_move(RowMove& move, const double (&m)[6], Filter filter, int height, int width) {
  constexpr double kFarthest = 1 << 14;  // nothing wraps around
  if (height > kFarthest || width > kFarthest || !(std::fabs(m[2]) < kFarthest) ||
      !(std::fabs(m[5]) < kFarthest))
    return false;
  if (moves_whole_pixels(m)) {
    move = {static_cast<int>(m[5]), static_cast<uint32_t>(static_cast<int32_t>(m[2])) << 16, 0};
    return true;
  }
  if (filter != Filter::nearest || only_scales(m) || !fits_fixed(m, height, width)) return false;
  const FixedMatrix fixed = to_fixed(m);
  move = {static_cast<int32_t>(fixed.f) >> 16, fixed.c, fixed.b};
  return fixed.a == kOne && fixed.d == 0 && fixed.e == kOne;
}

namespace {

/// The columns of the output that have one in the source.
struct Span {
  int64_t begin;
  int64_t end;
};

Span span_of(int64_t shift, int in_width, int out_width) {
  const int64_t begin = std::clamp<int64_t>(-shift, 0, out_width);
  return {begin, std::clamp<int64_t>(in_width - shift, begin, out_width)};
}

/// Neighbouring columns that move together. Always that many are written, from left to right, so
/// that the next strip covers what was too much.
constexpr int kStripWidth = 16;

/// One strip: row y of `to` is row y + shift of `from`, which has `in_rows`.
void copy_strip(uint8_t* to, ptrdiff_t to_stride, int out_rows, const uint8_t* from,
                ptrdiff_t from_stride, int in_rows, int shift, uint8_t fill) {
  const int begin = std::clamp(-shift, 0, out_rows);
  const int end = std::clamp(in_rows - shift, begin, out_rows);
  int y = 0;
  for (; y < begin; ++y, to += to_stride) std::memset(to, fill, kStripWidth);
  for (; y < end; ++y, to += to_stride)
    std::memcpy(to, from + (y + shift) * from_stride, kStripWidth);
  for (; y < out_rows; ++y, to += to_stride) std::memset(to, fill, kStripWidth);
}

}  // namespace

bool moves_columns(const FixedMatrix& matrix) {
  return matrix.a == kOne && matrix.b == 0 && matrix.e == kOne;
}

void copy_shifted_columns(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                          const uint8_t (&fill)[3]) {
  constexpr int kMostRows = 1 << 15;  // that 16.16 bits can tell apart
  const int64_t shift = static_cast<int32_t>(matrix.c) >> 16;
  const auto [begin, end] = span_of(shift, in.width, out.width);
  const auto rows_at = [&](int64_t x) {
    return static_cast<int32_t>(matrix.d * static_cast<uint32_t>(x) + matrix.f) >> 16;
  };
  for (int c = 0; c < out.channels; ++c) {
    const uint8_t* const plane = in.plane[std::min(c, in.channels - 1)];
    for (int64_t x = begin; x < end;) {
      const int rows = rows_at(x);
      copy_strip(out.plane[c] + x, out.stride, out.height, plane + x + shift, in.stride,
                 std::min(in.height, kMostRows), rows, fill[c]);
      const int64_t limit = std::min(x + kStripWidth, end);
      while (x < limit && rows_at(x) == rows) ++x;
    }
    for (int y = 0; y < out.height; ++y) {
      std::memset(out.row(c, y), fill[c], begin);
      std::memset(out.row(c, y) + end, fill[c], out.width - end);
    }
  }
}

}  // namespace penstock
