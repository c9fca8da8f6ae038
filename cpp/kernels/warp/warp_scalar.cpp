#include "kernels/warp/warp_scalar.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/warp/nearest_paths.h"
#include "kernels/warp/warp_rows.h"

namespace penstock {
namespace {

// Pillow's two filters for warps, in double precision and cut off, not rounded.

/// Between `left` and `right`: the first step of a bilinear filter, and its second.
double between(double left, double right, double share) { return left + (right - left) * share; }

/// A cubic through four neighbours at `share` of the way from the second to the third.
/// The order of the sums is Pillow's, which decides the last bits.
double cubic(double v1, double v2, double v3, double v4, double share) {
  const double p2 = -v1 + v3;
  const double p3 = 2 * (v1 - v2) + v3 - v4;
  const double p4 = -v1 + v2 - v3 + v4;
  return v2 + share * (p2 + share * (p3 + share * p4));
}

uint8_t cut_off(double level) {
  return level <= 0.0 ? 0 : level >= 255.0 ? 255 : static_cast<uint8_t>(level);
}

/// The level at a place of a RoundedLine, in a row of which `top` and `low` are the upper left and
/// the lower left of four pixels. All sums fit into 16 bits.
uint8_t rounded_level(const uint8_t* top, const uint8_t* low, int32_t x, int32_t y) {
  constexpr int kBits = RoundedLine::kBits, kWeightBits = RoundedLine::kWeightBits;
  constexpr int kOne = 1 << kWeightBits, kMiddle = 128;  // of all levels
  const auto rest = [](int32_t place) { return place & ((1 << kBits) - 1); };
  const int right = (rest(x) + (1 << (kBits - kWeightBits - 1))) >> (kBits - kWeightBits);
  const auto across = [&](const uint8_t* pixels) {
    return (kOne - right) * (pixels[0] - kMiddle) + right * (pixels[1] - kMiddle);
  };
  const int above = across(top), below = across(low);
  const int moved = ((below - above) * rest(y) + (1 << (kBits - 1))) >> kBits;
  return static_cast<uint8_t>((above + moved + kMiddle * kOne) >> kWeightBits);
}

struct Place {
  double x;
  double y;
};

/// One pixel of the output at a time; gray becomes three channels if the output has them.
class Sampler {
 public:
  Sampler(const PlanarTarget& out, const PlanarView& in, const uint8_t (&fill)[3])
      : out_(out), in_(in), fill_(fill) {}

  void nearest(int out_y, int out_x, int in_y, int in_x) const {
    for (int c = 0; c < out_.channels; ++c) out_.row(c, out_y)[out_x] = row(c, in_y)[in_x];
  }

  void outside(int out_y, int out_x) const {
    for (int c = 0; c < out_.channels; ++c) out_.row(c, out_y)[out_x] = fill_[c];
  }

  void filtered(int out_y, int out_x, const Place& place, Filter filter) const {
    if (!is_inside(place.x, in_.width) || !is_inside(place.y, in_.height))
      return outside(out_y, out_x);
    if (filter == Filter::nearest)
      return nearest(out_y, out_x, static_cast<int>(place.y), static_cast<int>(place.x));
    for (int c = 0; c < out_.channels; ++c)
      out_.row(c, out_y)[out_x] =
          filter == Filter::bilinear ? bilinear(c, place) : bicubic(c, place);
  }

 private:
  const uint8_t* row(int channel, int y) const {
    return in_.row(std::min(channel, in_.channels - 1), std::clamp(y, 0, in_.height - 1));
  }
  int column(int x) const { return std::clamp(x, 0, in_.width - 1); }

  uint8_t bilinear(int channel, const Place& place) const {
    const double x = place.x - 0.5, y = place.y - 0.5;
    const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
    const auto across = [&](int line) {
      const uint8_t* pixels = row(channel, line);
      return between(pixels[column(left)], pixels[column(left + 1)], x - left);
    };
    return static_cast<uint8_t>(between(across(top), across(top + 1), y - top));
  }

  uint8_t bicubic(int channel, const Place& place) const {
    const double x = place.x - 0.5, y = place.y - 0.5;
    const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
    const auto across = [&](int line) {
      const uint8_t* pixels = row(channel, line);
      return cubic(pixels[column(left - 1)], pixels[column(left)], pixels[column(left + 1)],
                   pixels[column(left + 2)], x - left);
    };
    return cut_off(cubic(across(top - 1), across(top), across(top + 1), across(top + 2), y - top));
  }

  const PlanarTarget& out_;
  const PlanarView& in_;
  const uint8_t (&fill_)[3];
};

/// The whole image of which only a part is in memory: pixels elsewhere must not be touched.
PlanarTarget whole_of(PlanarTarget part, const WarpFrame& frame) {
  for (int c = 0; c < part.channels; ++c)
    part.plane[c] -= frame.out_top * part.stride + frame.out_left;
  part.height = frame.out_height;
  part.width = frame.out_width;
  return part;
}

PlanarView whole_of(PlanarView part, const WarpFrame& frame) {
  for (int c = 0; c < part.channels; ++c)
    part.plane[c] -= frame.in_top * part.stride + frame.in_left;
  part.height = frame.in_height;
  part.width = frame.in_width;
  return part;
}

/// Places that were added up, one step per pixel: the sums' rounding is part of the result.
void warp_by_sums(const Region& window, const PlanarView& in, const Sampler& sampler,
                  Place row_start, const Place& per_column, const Place& per_row) {
  for (int y = 0; y < window.top + window.height; ++y) {
    Place place = row_start;
    for (int x = 0; y >= window.top && x < window.left + window.width; ++x) {
      if (x >= window.left) {
        if (is_inside(place.x, in.width) && is_inside(place.y, in.height))
          sampler.nearest(y, x, static_cast<int>(place.y), static_cast<int>(place.x));
        else
          sampler.outside(y, x);
      }
      place = {place.x + per_column.x, place.y + per_column.y};
    }
    row_start = {row_start.x + per_row.x, row_start.y + per_row.y};
  }
}

void warp_fixed(const Region& window, const PlanarView& in, const Sampler& sampler,
                const FixedMatrix& m) {
  for (int y = window.top; y < window.top + window.height; ++y)
    for (int x = window.left; x < window.left + window.width; ++x) {
      const uint32_t column = static_cast<uint32_t>(x), line = static_cast<uint32_t>(y);
      const int in_x = static_cast<int32_t>(m.a * column + m.b * line + m.c) >> 16;
      const int in_y = static_cast<int32_t>(m.d * column + m.e * line + m.f) >> 16;
      if (in_x >= 0 && in_x < in.width && in_y >= 0 && in_y < in.height)
        sampler.nearest(y, x, in_y, in_x);
      else
        sampler.outside(y, x);
    }
}

}  // namespace

void warp_affine_scalar(const PlanarTarget& out_part, const PlanarView& in_part,
                        const WarpFrame& frame, const double (&m)[6], Filter filter,
                        const uint8_t (&fill)[3]) {
  const PlanarTarget out = whole_of(out_part, frame);
  const PlanarView in = whole_of(in_part, frame);
  const Region window{frame.out_top, frame.out_left, out_part.height, out_part.width};
  const Sampler sampler(out, in, fill);
  if (filter != Filter::nearest) {
    for (int y = window.top; y < window.top + window.height; ++y)
      for (int x = window.left; x < window.left + window.width; ++x) {
        const double centre_x = x + 0.5, centre_y = y + 0.5;
        sampler.filtered(
            y, x,
            {m[0] * centre_x + m[1] * centre_y + m[2], m[3] * centre_x + m[4] * centre_y + m[5]},
            filter);
      }
  } else if (only_scales(m)) {
    // m[1] and m[3] are zero here: the start of a row moves down only, that of a column across.
    warp_by_sums(window, in, sampler, {m[2] + m[0] * 0.5, m[5] + m[4] * 0.5}, {m[0], 0}, {0, m[4]});
  } else if (fits_fixed(m, out.height, out.width)) {
    warp_fixed(window, in, sampler, to_fixed(m));
  } else {
    warp_by_sums(window, in, sampler,
                 {m[2] + m[1] * 0.5 + m[0] * 0.5, m[5] + m[4] * 0.5 + m[3] * 0.5}, {m[0], m[3]},
                 {m[1], m[4]});
  }
}

void warp_affine_rounded_scalar(const PlanarTarget& out_part, const PlanarView& in_part,
                                const WarpFrame& frame, const double (&m)[6],
                                const uint8_t (&fill)[3]) {
  const PlanarView in = whole_of(in_part, frame);
  for_each_part(out_part, frame, 1, [&](const RowPart& part) {
    RoundedLine line;
    if (!find_line(line, part, m, in.height, in.width)) {
      PlanarTarget row = out_part;
      for (int c = 0; c < part.channels; ++c) row.plane[c] = part.pixels[c];
      row.height = 1;
      row.width = part.count;
      WarpFrame of_row = frame;
      of_row.out_top = part.y;
      of_row.out_left = part.x;
      return warp_affine_scalar(row, in_part, of_row, m, Filter::bilinear, fill);
    }
    for (int i = 0; i < part.count; ++i, line.x += line.dx, line.y += line.dy)
      for (int c = 0; c < part.channels; ++c) {
        const int channel = std::min(c, in.channels - 1);
        const int top = line.y >> RoundedLine::kBits, left = line.x >> RoundedLine::kBits;
        part.pixels[c][i] = rounded_level(in.row(channel, top) + left,
                                          in.row(channel, top + 1) + left, line.x, line.y);
      }
  });
}

void warp_perspective_scalar(const PlanarTarget& out_part, const PlanarView& in_part,
                             const WarpFrame& frame, const double (&m)[8], Filter filter,
                             const uint8_t (&fill)[3]) {
  const PlanarTarget out = whole_of(out_part, frame);
  const PlanarView in = whole_of(in_part, frame);
  const Region window{frame.out_top, frame.out_left, out_part.height, out_part.width};
  const Sampler sampler(out, in, fill);
  for (int y = window.top; y < window.top + window.height; ++y)
    for (int x = window.left; x < window.left + window.width; ++x) {
      const double centre_x = x + 0.5, centre_y = y + 0.5;
      const double depth = m[6] * centre_x + m[7] * centre_y + 1;
      sampler.filtered(y, x,
                       {(m[0] * centre_x + m[1] * centre_y + m[2]) / depth,
                        (m[3] * centre_x + m[4] * centre_y + m[5]) / depth},
                       filter);
    }
}

const WarpRows* const scalar::warp_rows = nullptr;
const DisplacedRows* const scalar::displaced_rows = nullptr;

namespace {

constexpr int kMostTaps = 4;

/// The neighbours that count along one axis, and how much; those outside the image are left out.
struct Taps {
  int first = 0;
  int count = 0;
  float weight[kMostTaps] = {};

  float sum() const {
    float total = 0;
    for (int i = 0; i < count; ++i) total += weight[i];
    return total;
  }
};

/// Cubic convolution with a = -0.75, as torch's grid_sample.
void cubic_weights(float (&weight)[kMostTaps], float share) {
  constexpr float a = -0.75f;
  const auto near = [](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  weight[0] = far(share + 1);
  weight[1] = near(share);
  weight[2] = near(1 - share);
  weight[3] = far(2 - share);
}

Taps taps_at(float place, int size, Filter filter) {
  // Beyond reach of every filter; also where a conversion to int could not hold the place.
  if (!(place > -kMostTaps && place < static_cast<float>(size + kMostTaps))) return {};
  float weight[kMostTaps] = {1};
  int first = 0, count = 1;
  if (filter == Filter::nearest) {
    first = static_cast<int>(std::nearbyint(place));
  } else {
    first = static_cast<int>(std::floor(place));
    const float share = place - static_cast<float>(first);
    if (filter == Filter::bilinear) {
      count = 2;
      weight[0] = 1 - share;
      weight[1] = share;
    } else {
      count = kMostTaps;
      first -= 1;
      cubic_weights(weight, share);
    }
  }
  Taps taps;
  const int begin = std::max(first, 0), end = std::min(first + count, size);
  taps.first = begin;
  taps.count = std::max(end - begin, 0);
  for (int i = 0; i < taps.count; ++i) taps.weight[i] = weight[begin - first + i];
  return taps;
}

float weighted(const PlanarView& in, int channel, const Taps& down, const Taps& across) {
  float total = 0;
  for (int i = 0; i < down.count; ++i) {
    const uint8_t* row = in.row(channel, down.first + i) + across.first;
    float sum = 0;
    for (int j = 0; j < across.count; ++j) sum += across.weight[j] * row[j];
    total += down.weight[i] * sum;
  }
  return total;
}

}  // namespace

void warp_displaced_scalar(const PlanarTarget& out, const PlanarView& in, const float* dx,
                           const float* dy, Filter filter, const uint8_t (&fill)[3]) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x, ++dx, ++dy) {
      const Taps across = taps_at(static_cast<float>(x) + *dx, in.width, filter);
      const Taps down = taps_at(static_cast<float>(y) + *dy, in.height, filter);
      const float inside = across.sum() * down.sum();
      for (int c = 0; c < out.channels; ++c) {
        const float colour = fill[c];
        const float level = weighted(in, std::min(c, in.channels - 1), down, across);
        const float mixed = (level - colour) * inside + colour;
        out.row(c, y)[x] = static_cast<uint8_t>(std::clamp(std::nearbyint(mixed), 0.0f, 255.0f));
      }
    }
}

}  // namespace penstock
