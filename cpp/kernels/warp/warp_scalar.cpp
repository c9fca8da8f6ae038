#include "kernels/warp/warp_scalar.h"

#include <algorithm>
#include <cmath>

#include "kernels/warp/displaced_rows.h"
#include "kernels/warp/filters.h"
#include "kernels/warp/nearest_paths.h"

namespace penstock {
namespace {

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

/// Places that were added up, one step a pixel: the sums' rounding is part of the result.
void warp_by_sums(const PlanarTarget& out, const PlanarView& in, const Sampler& sampler,
                  Place row_start, const Place& per_column, const Place& per_row) {
  for (int y = 0; y < out.height; ++y) {
    Place place = row_start;
    for (int x = 0; x < out.width; ++x) {
      if (is_inside(place.x, in.width) && is_inside(place.y, in.height))
        sampler.nearest(y, x, static_cast<int>(place.y), static_cast<int>(place.x));
      else
        sampler.outside(y, x);
      place = {place.x + per_column.x, place.y + per_column.y};
    }
    row_start = {row_start.x + per_row.x, row_start.y + per_row.y};
  }
}

void warp_fixed(const PlanarTarget& out, const PlanarView& in, const Sampler& sampler,
                const FixedMatrix& m) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
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

void warp_affine_scalar(const PlanarTarget& out, const PlanarView& in, const double (&m)[6],
                        Filter filter, const uint8_t (&fill)[3]) {
  const Sampler sampler(out, in, fill);
  if (filter != Filter::nearest) {
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x) {
        const double centre_x = x + 0.5, centre_y = y + 0.5;
        sampler.filtered(
            y, x,
            {m[0] * centre_x + m[1] * centre_y + m[2], m[3] * centre_x + m[4] * centre_y + m[5]},
            filter);
      }
  } else if (only_scales(m)) {
    // m[1] and m[3] are zero here: the start of a row moves down only, that of a column across.
    warp_by_sums(out, in, sampler, {m[2] + m[0] * 0.5, m[5] + m[4] * 0.5}, {m[0], 0}, {0, m[4]});
  } else if (fits_fixed(m, out.height, out.width)) {
    warp_fixed(out, in, sampler, to_fixed(m));
  } else {
    warp_by_sums(out, in, sampler, {m[2] + m[1] * 0.5 + m[0] * 0.5, m[5] + m[4] * 0.5 + m[3] * 0.5},
                 {m[0], m[3]}, {m[1], m[4]});
  }
}

void warp_perspective_scalar(const PlanarTarget& out, const PlanarView& in, const double (&m)[8],
                             Filter filter, const uint8_t (&fill)[3]) {
  const Sampler sampler(out, in, fill);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
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

}  // namespace penstock
