#include "codec/reconstruct/upsample.h"

#include <algorithm>

namespace penstock {
namespace {

/// Calls filter(nearer column, farther column, bias) for every image column; columns outside the
/// component are replicated.
template <class Filter>
void filter_columns(int8_t* target, const SamplePlane& plane, int left, int right, int bias_left,
                    int bias_right, const Filter& filter) {
  for (int x = left; x < right; ++x) {
    const bool is_right = x & 1;
    const int near = x / 2;
    const int far = std::clamp(is_right ? near + 1 : near - 1, 0, plane.width - 1);
    target[x - left] = static_cast<int8_t>(
        filter(near - plane.left, far - plane.left, is_right ? bias_right : bias_left));
  }
}

void repeat_columns(int8_t* target, const int8_t* near, const SamplePlane& plane, int left,
                    int right) {
  const int ratio = plane.horizontal_ratio;
  for (int x = left, column = left / ratio; x < right; ++column) {
    const int end = std::min((column + 1) * ratio, right);
    while (x < end) target[x++ - left] = near[column - plane.left];
  }
}

}  // namespace

Upsampling upsampling_of(const SamplePlane& plane) {
  const int horizontal = plane.horizontal_ratio, vertical = plane.vertical_ratio;
  if (horizontal == 1 && vertical == 1) return Upsampling::none;
  if (horizontal == 1 && vertical == 2) return Upsampling::fancy_h1v2;
  if (horizontal == 2 && vertical == 1 && plane.width > 2) return Upsampling::fancy_h2v1;
  if (horizontal == 2 && vertical == 2 && plane.width > 2) return Upsampling::fancy_h2v2;
  return Upsampling::box;
}

ChromaRows chroma_rows(const SamplePlane& plane, Upsampling method, int y) {
  const auto row = [&plane](int wanted) {
    const int inside = std::clamp(wanted, 0, plane.height - 1);
    return reinterpret_cast<const int8_t*>(plane.origin) + (inside - plane.top) * plane.stride;
  };
  const int near = y / plane.vertical_ratio;
  if (method != Upsampling::fancy_h1v2 && method != Upsampling::fancy_h2v2)
    return {row(near), row(near), false};
  const bool far_is_below = y & 1;
  return {row(near), row(far_is_below ? near + 1 : near - 1), far_is_below};
}

void upsample_row(int8_t* target, const SamplePlane& plane, Upsampling method, int y, int left,
                  int right) {
  const ChromaRows rows = chroma_rows(plane, method, y);
  const int8_t* near = rows.near;
  const int8_t* far = rows.far;
  switch (method) {
    case Upsampling::fancy_h2v1:
      filter_columns(
          target, plane, left, right, kH2v1BiasLeft, kH2v1BiasRight,
          [=](int x, int beside, int bias) { return (3 * near[x] + near[beside] + bias) >> 2; });
      return;
    case Upsampling::fancy_h2v2:
      filter_columns(target, plane, left, right, kH2v2BiasLeft, kH2v2BiasRight,
                     [=](int x, int beside, int bias) {
                       const int sum = 3 * near[x] + far[x];
                       const int sum_beside = 3 * near[beside] + far[beside];
                       return (3 * sum + sum_beside + bias) >> 4;
                     });
      return;
    case Upsampling::fancy_h1v2: {
      const int bias = rows.far_is_below ? kH1v2BiasBelow : kH1v2BiasAbove;
      for (int x = left; x < right; ++x) {
        const int column = x - plane.left;
        target[x - left] = static_cast<int8_t>((3 * near[column] + far[column] + bias) >> 2);
      }
      return;
    }
    case Upsampling::none:
      std::copy_n(near + (left - plane.left), right - left, target);
      return;
    case Upsampling::box:
      repeat_columns(target, near, plane, left, right);
      return;
  }
}

const int8_t* upsample_row_with(const FancyFilters& filters, int8_t* scratch,
                                const SamplePlane& plane, int y, int left, int right) {
  const Upsampling method = upsampling_of(plane);
  const ChromaRows rows = chroma_rows(plane, method, y);
  switch (method) {
    case Upsampling::none:
      return rows.near + (left - plane.left);
    case Upsampling::fancy_h1v2:
      filters.h1v2(scratch, rows, left - plane.left, right - left);
      return scratch;
    case Upsampling::box:
      upsample_row(scratch, plane, method, y, left, right);
      return scratch;
    case Upsampling::fancy_h2v1:
    case Upsampling::fancy_h2v2:
      break;
  }
  const int first = left / 2, end = (right + 1) / 2;
  const auto filter = method == Upsampling::fancy_h2v2 ? filters.h2v2 : filters.h2v1;
  filter(scratch, rows, first - plane.left, end - first);
  // What lies beside the component is not a sample: the columns at its edges are done over.
  if (first == 0) upsample_row(scratch, plane, method, y, 0, 1);
  const int last = 2 * plane.width - 1;
  if (end == plane.width)
    upsample_row(scratch + (last - 2 * first), plane, method, y, last, last + 1);
  return scratch + (left - 2 * first);
}

}  // namespace penstock
