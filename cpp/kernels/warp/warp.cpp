#include "kernels/warp/warp.h"

#include <algorithm>
#include <cmath>

#include "kernels/warp/nearest_paths.h"
#include "kernels/warp/warp_rows.h"
#include "kernels/warp/warp_scalar.h"

namespace penstock {

namespace {

/// `place` sets x and y of the Places of a part.
template <class Place>
void warp_to_places(const PlanarTarget& out, const PlanarView& in, Filter filter, uint32_t fill,
                    WarpScratch& scratch, Place place) {
  const BorderedImage image = filter == Filter::nearest
                                  ? make_filled_border(in, fill, scratch.words)
                                  : make_repeated_border(in, scratch.words);
  const WarpRows& kernels = warp_rows();
  Places places;
  for_each_part(out, [&](const RowPart& part) {
    place(places, part);
    if (filter == Filter::nearest) {
      kernels.nearest(places, part, image);
      kernels.copy(part, image.first, places.at);
    } else {
      (filter == Filter::bilinear ? kernels.bilinear : kernels.bicubic)(part, image, places, fill);
    }
  });
}

/// Pillow's own path for fixed-point numbers.
void warp_fixed(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                const uint8_t (&fill)[3], WarpScratch& scratch) {
  if (matrix.a == 1u << 16 && matrix.d == 0) {  // a shear along rows
    for (int y = 0; y < out.height; ++y)
      copy_shifted_row(out, in, y, static_cast<int32_t>(matrix.e * y + matrix.f) >> 16,
                       static_cast<int32_t>(matrix.b * y + matrix.c) >> 16, fill);
    return;
  }
  if (moves_columns(matrix)) return copy_shifted_columns(out, in, matrix, fill);
  const BorderedImage image = make_filled_border(in, word_of(fill), scratch.words);
  const WarpRows& kernels = warp_rows();
  Places places;
  for_each_part(out, [&](const RowPart& part) {
    kernels.nearest_fixed(places, part, image, matrix);
    kernels.copy(part, image.first, places.at);
  });
}

/// Where the output's columns (or rows) lie among `size` of the source; kOutside for none. One sum
/// per column, since the sums' rounding is part of Pillow's result.
void tabulate(int32_t* table, int count, double start, double step, int size) {
  for (int i = 0; i < count; ++i, start += step)
    table[i] = is_inside(start, size) ? static_cast<int32_t>(start) : kOutside;
}

/// Whether every output column is the source's column `shift` further on, where there is one.
bool has_one_shift(int64_t& shift, const int32_t* table, int count, int size) {
  const int32_t* first = std::find_if(table, table + count, [](int32_t at) { return at >= 0; });
  shift = first == table + count ? size : *first - (first - table);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t expected = i + shift;
    if (table[i] != (expected >= 0 && expected < size ? expected : kOutside)) return false;
  }
  return true;
}

void warp_scaled(const PlanarTarget& out, const PlanarView& in, const double (&m)[6],
                 const uint8_t (&fill)[3], WarpScratch& scratch) {
  int32_t* const columns = scratch.columns.reserve<int32_t>(size_t{kPartStep} + out.width);
  tabulate(columns, out.width, m[2] + m[0] * 0.5, m[0], in.width);
  std::fill_n(columns + out.width, kPartStep, kOutside);
  int64_t shift = 0;
  const bool shifted = has_one_shift(shift, columns, out.width, in.width);
  const BorderedImage image =
      shifted ? BorderedImage{} : make_filled_border(in, word_of(fill), scratch.words);
  const WarpRows& kernels = warp_rows();

  double place = m[5] + m[4] * 0.5;
  for (int y = 0; y < out.height; ++y, place += m[4]) {
    const int in_y = is_inside(place, in.height) ? static_cast<int>(place) : -1;
    if (shifted || in_y < 0) {
      copy_shifted_row(out, in, y, in_y, shift, fill);
      continue;
    }
    RowPart row{{}, out.channels, y, 0, out.width};
    for (int c = 0; c < out.channels; ++c) row.pixels[c] = out.row(c, y);
    kernels.copy(row, image.at(in_y, 0), columns);
  }
}

/// By whole pixels all filters give the pixels themselves.
bool moves_whole_pixels(const double (&m)[6]) {
  constexpr double kFarther = 1 << 25;  // than any image is large; sums up to here are exact
  const auto is_whole = [](double v) { return std::fabs(v) < kFarther && std::floor(v) == v; };
  return m[0] == 1 && m[4] == 1 && only_scales(m) && is_whole(m[2]) && is_whole(m[5]);
}

}  // namespace

void warp_affine(const PlanarTarget& out, const PlanarView& in, const double (&matrix)[6],
                 Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch) {
  if (!has_vectors(in)) return warp_affine_scalar(out, in, matrix, filter, fill);
  if (filter != Filter::nearest && !moves_whole_pixels(matrix))
    return warp_to_places(
        out, in, filter, word_of(fill), scratch,
        [&](Places& places, const RowPart& part) { warp_rows().affine(places, part, matrix); });
  if (only_scales(matrix)) return warp_scaled(out, in, matrix, fill, scratch);
  if (fits_fixed(matrix, out.height, out.width))
    return warp_fixed(out, in, to_fixed(matrix), fill, scratch);
  warp_affine_scalar(out, in, matrix, filter, fill);
}

void warp_perspective(const PlanarTarget& out, const PlanarView& in, const double (&matrix)[8],
                      Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch) {
  if (!has_vectors(in)) return warp_perspective_scalar(out, in, matrix, filter, fill);
  warp_to_places(out, in, filter, word_of(fill), scratch, [&](Places& places, const RowPart& part) {
    warp_rows().perspective(places, part, matrix);
  });
}

}  // namespace penstock
