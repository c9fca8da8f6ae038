#include "kernels/warp/warp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/row_shuffle/row_shuffle.h"
#include "kernels/warp/nearest_paths.h"
#include "kernels/warp/warp_rows.h"
#include "kernels/warp/warp_scalar.h"

namespace penstock {

namespace {

bool is_whole(const WarpFrame& frame, const PlanarTarget& out, const PlanarView& in) {
  return frame.out_height == out.height && frame.out_width == out.width &&
         frame.in_height == in.height && frame.in_width == in.width;
}

/// Kernels work on whole vectors. What they see past the end comes from where the last pixel does:
/// a pixel farther on may come from a part of the source that is not there.
template <class Value>
void repeat_last(Value (&values)[kPartPixels], const RowPart& part) {
  for (int i = part.count; i % kPartStep != 0; ++i) values[i] = values[part.count - 1];
}

/// Parts that a shorter way has not done yet go the long one.
bool never(const RowPart&, const BorderedImage&) { return false; }

/// `place` sets x and y of the Places of a part, as a kernel does; not asked for parts that
/// `shorter` does by itself.
template <class Matrix, class Place, class Shorter>
void warp_to_places(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                    const Matrix& matrix, Filter filter, uint32_t fill, WarpScratch& scratch,
                    Place place, Shorter shorter) {
  const Outline needed =
      warp_outline(matrix, {frame.out_top, frame.out_left, out.height, out.width}, frame.in_height,
                   frame.in_width)
          .seen_from(frame.in_top, frame.in_left);
  const BorderedImage image = filter == Filter::nearest
                                  ? make_filled_border(in, frame, needed, fill, scratch.words)
                                  : make_repeated_border(in, frame, needed, scratch.words);
  const WarpRows& kernels = warp_rows();
  Places places;
  for_each_part(out, frame, band_rows(in, matrix[3]), [&](const RowPart& part) {
    if (shorter(part, image)) return;
    place(places, part, matrix);
    repeat_last(places.x, part);
    repeat_last(places.y, part);
    if (filter == Filter::nearest) {
      kernels.nearest(places, part, image);
      kernels.copy(part, image.first, places.at);
    } else {
      (filter == Filter::bilinear ? kernels.bilinear : kernels.bicubic)(part, image, places, fill);
    }
  });
}

/// Whether 16.16 bits come around only for places far outside the image.
bool is_far_from_wrapping(const PlanarView& image) {
  constexpr int kLargest = 1 << 14;
  return image.width <= kLargest && image.height <= kLargest;
}

/// Pillow's own path for fixed-point numbers.
void warp_fixed(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                const FixedMatrix& matrix, const uint8_t (&fill)[3], WarpScratch& scratch) {
  const WarpRows& kernels = warp_rows();
  const bool whole = is_whole(frame, out, in);
  if (whole && matrix.a == 1u << 16 && matrix.d == 0) {  // a shear along rows
    const auto shift = PENSTOCK_PICK(row_shuffle).shift;
    for (int y = 0; y < out.height; ++y)
      shift(out, in, y, static_cast<int32_t>(matrix.e * y + matrix.f) >> 16,
            static_cast<int32_t>(matrix.b * y + matrix.c) >> 16, fill);
    return;
  }
  if (whole && kernels.copy_tiles != nullptr && is_far_from_wrapping(in) &&
      kernels.copy_tiles(out, in, matrix, fill))
    return;
  if (whole && moves_columns(matrix)) return copy_shifted_columns(out, in, matrix, fill);
  const BorderedImage image = make_filled_border(in, frame, {}, word_of(fill), scratch.words);
  Places places;
  const double slope = static_cast<int32_t>(matrix.d) / 65536.0;
  for_each_part(out, frame, band_rows(in, slope), [&](const RowPart& part) {
    kernels.nearest_fixed(places, part, image, matrix);
    repeat_last(places.at, part);
    kernels.copy(part, image.first, places.at);
  });
}

constexpr int32_t kNowhere = -1;

/// Where the output's columns from `first` on lie in the source, counted from its column `origin`;
/// kNowhere for none. One sum per column, since the sums' rounding is part of Pillow's result.
void tabulate(int32_t* table, int first, int count, double start, double step, int size,
              int origin) {
  for (int i = 0; i < first; ++i) start += step;
  for (int i = 0; i < count; ++i, start += step)
    table[i] = is_inside(start, size) ? static_cast<int32_t>(start) - origin : kNowhere;
}

/// Whether every output column is the source's column `shift` further on, where there is one.
bool has_one_shift(int64_t& shift, const int32_t* table, int count, int size) {
  const int32_t* first = std::find_if(table, table + count, [](int32_t at) { return at >= 0; });
  shift = first == table + count ? size : *first - (first - table);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t expected = i + shift;
    if (table[i] != (expected >= 0 && expected < size ? expected : kNowhere)) return false;
  }
  return true;
}

void warp_scaled(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                 const double (&m)[6], const uint8_t (&fill)[3], WarpScratch& scratch) {
  int32_t* const columns = scratch.columns.reserve<int32_t>(size_t{kPartStep} + out.width);
  bool shifted = is_whole(frame, out, in) && moves_whole_pixels(m);
  int64_t shift = 0;
  if (shifted) {
    shift = static_cast<int64_t>(m[2]);
  } else {
    tabulate(columns, frame.out_left, out.width, m[2] + m[0] * 0.5, m[0], frame.in_width,
             frame.in_left);
    std::fill_n(columns + out.width, kPartStep, kNowhere);
    shifted = has_one_shift(shift, columns, out.width, in.width);
  }
  const BorderedImage image =
      shifted ? BorderedImage{}
              : make_filled_border(in, whole_frame(out, in), {}, word_of(fill), scratch.words);
  const WarpRows& kernels = warp_rows();

  double place = m[5] + m[4] * 0.5;
  for (int y = 0; y < frame.out_top; ++y) place += m[4];
  for (int y = 0; y < out.height; ++y, place += m[4]) {
    const int in_y =
        is_inside(place, frame.in_height) ? static_cast<int>(place) - frame.in_top : -1;
    if (shifted || in_y < 0) {
      PENSTOCK_PICK(row_shuffle).shift(out, in, y, in_y, shift, fill);
      continue;
    }
    RowPart row{{}, out.channels, y, 0, out.width};
    for (int c = 0; c < out.channels; ++c) row.pixels[c] = out.row(c, y);
    kernels.copy(row, image.at(in_y, 0), columns);
  }
}

constexpr int kReach = 3;  // two pixels by a bicubic filter, one more by rounding

/// The least and the greatest place along one axis.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double term = 0;  // the largest of those that places are sums of

  double add(const double (&terms)[3], double depth) {
    const double place = (terms[0] + terms[1] + terms[2]) / depth;
    least = std::min(least, place);
    most = std::max(most, place);
    for (const double value : terms)
      term = std::max(
          term, std::isnan(value) ? std::numeric_limits<double>::infinity() : std::fabs(value));
    return place;
  }

  /// Whether rounding, which is part of Pillow's result, moves no place by more than two pixels.
  bool is_certain(int size, double least_depth) const {
    constexpr double kLargest = 1e8;   // terms whose sums, column by column, are exact enough
    constexpr double kWraps = -32760;  // 16.16 bits come around about here, to large numbers
    return term < kLargest * least_depth && (least >= kWraps || size <= -kWraps);
  }

  /// The pixels of `size` that filters take for these places: first, and how many.
  std::pair<int, int> pixels(int size, double least_depth) const {
    if (!is_certain(size, least_depth)) return {0, size};
    const int first = std::clamp(static_cast<int>(std::floor(least)) - kReach, 0, size - 1);
    const int last = std::clamp(static_cast<int>(std::floor(most)) + kReach, first, size - 1);
    return {first, last - first + 1};
  }
};

/// Where the corners of a window lie in the source.
struct Corners {
  Outline::Corner place[4];  // in their order around the window
  Extent across, down;
  double least_depth = 1;
  bool is_known = false;  // whether all else of the window lies between them
};

Corners corners_of(const double (&m)[8], const Region& window) {
  // Beyond, a step rounded to 16 bits may be two pixels off.
  constexpr int kFarthest = 1 << 17;
  // Where depths are much smaller than what they are the sum of, they are all rounding.
  constexpr double kLeastShare = 1.0 / 4096;
  // Lines stay lines, so the corners are the outermost, unless the window reaches behind the
  // horizon, where the depth is not positive. Rounded sums keep their order, so that a part of the
  // window never needs more than the window.
  Corners corners;
  double depth_term = 1;
  for (int corner = 0; corner < 4; ++corner) {
    const bool is_right = corner == 1 || corner == 2, is_low = corner >= 2;
    const double x = window.left + (is_right ? window.width - 0.5 : 0.5);
    const double y = window.top + (is_low ? window.height - 0.5 : 0.5);
    const double depth = m[6] * x + m[7] * y + 1;
    // NaN stays.
    corners.least_depth = depth >= corners.least_depth ? corners.least_depth : depth;
    depth_term = std::max({depth_term, std::fabs(m[6] * x), std::fabs(m[7] * y)});
    corners.place[corner].x = corners.across.add({m[0] * x, m[1] * y, m[2]}, depth);
    corners.place[corner].y = corners.down.add({m[3] * x, m[4] * y, m[5]}, depth);
  }
  corners.is_known = corners.least_depth > kLeastShare * depth_term &&
                     window.left + window.width <= kFarthest &&
                     window.top + window.height <= kFarthest;
  return corners;
}

/// The numbers of an affine warp as those of a perspective.
struct Projective {
  explicit Projective(const double (&m)[6]) : matrix{m[0], m[1], m[2], m[3], m[4], m[5], 0, 0} {}
  double matrix[8];
};

}  // namespace

Region warp_source(const double (&matrix)[6], const Region& window, int in_height, int in_width) {
  return warp_source(Projective(matrix).matrix, window, in_height, in_width);
}

Region warp_source(const double (&matrix)[8], const Region& window, int in_height, int in_width) {
  const Corners corners = corners_of(matrix, window);
  if (!corners.is_known) return {0, 0, in_height, in_width};
  const auto [top, height] = corners.down.pixels(in_height, corners.least_depth);
  const auto [left, width] = corners.across.pixels(in_width, corners.least_depth);
  return {top, left, height, width};
}

Outline warp_outline(const double (&matrix)[6], const Region& window, int in_height, int in_width) {
  return warp_outline(Projective(matrix).matrix, window, in_height, in_width);
}

Outline warp_outline(const double (&matrix)[8], const Region& window, int in_height, int in_width) {
  const Corners corners = corners_of(matrix, window);
  if (!corners.is_known || !corners.down.is_certain(in_height, corners.least_depth) ||
      !corners.across.is_certain(in_width, corners.least_depth))
    return {};
  Outline outline;
  outline.is_all = false;
  std::copy_n(corners.place, 4, outline.corner);
  outline.reach = kReach + 1;
  return outline;
}

void warp_affine(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                 const double (&matrix)[6], Filter filter, const uint8_t (&fill)[3],
                 WarpScratch& scratch) {
  if (!has_vectors(in, frame)) return warp_affine_scalar(out, in, frame, matrix, filter, fill);
  if (filter != Filter::nearest && !moves_whole_pixels(matrix))
    return warp_to_places(out, in, frame, matrix, filter, word_of(fill), scratch,
                          warp_rows().affine, never);
  if (only_scales(matrix)) return warp_scaled(out, in, frame, matrix, fill, scratch);
  if (fits_fixed(matrix, frame.out_height, frame.out_width))
    return warp_fixed(out, in, frame, to_fixed(matrix), fill, scratch);
  warp_affine_scalar(out, in, frame, matrix, filter, fill);
}

void warp_affine_rounded(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                         const double (&matrix)[6], Filter filter, const uint8_t (&fill)[3],
                         WarpScratch& scratch) {
  if (filter != Filter::bilinear || moves_whole_pixels(matrix))
    return warp_affine(out, in, frame, matrix, filter, fill, scratch);
  if (!has_vectors(in, frame)) return warp_affine_rounded_scalar(out, in, frame, matrix, fill);
  const WarpRows& kernels = warp_rows();
  warp_to_places(out, in, frame, matrix, filter, word_of(fill), scratch, kernels.affine,
                 [&](const RowPart& part, const BorderedImage& image) {
                   RoundedLine line;
                   if (!find_line(line, part, matrix, image.height, image.width)) return false;
                   kernels.bilinear_rounded(part, image, line);
                   return true;
                 });
}

void warp_perspective(const PlanarTarget& out, const PlanarView& in, const WarpFrame& frame,
                      const double (&matrix)[8], Filter filter, const uint8_t (&fill)[3],
                      WarpScratch& scratch) {
  if (!has_vectors(in, frame)) return warp_perspective_scalar(out, in, frame, matrix, filter, fill);
  warp_to_places(out, in, frame, matrix, filter, word_of(fill), scratch, warp_rows().perspective,
                 never);
}

}  // namespace penstock
