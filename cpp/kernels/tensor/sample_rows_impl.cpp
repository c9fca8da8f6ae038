#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "kernels/tensor/sample.h"

namespace penstock::PENSTOCK_ISA {
namespace {

/// Where the pixels of a block lie in the image, in pixels.
struct Places {
  float x[kSampleBlock];
  float y[kSampleBlock];
};

/// A row of the matrix times (x, y, 1), in the order of torch's matrix product.
template <bool kFused>
inline float product(const float row[3], float x, float y) {
  const float both = kFused ? __builtin_fmaf(y, row[1], x * row[0]) : x * row[0] + y * row[1];
  return both + row[2];
}

inline float pixels_of(float place, float half_side) {
  return __builtin_fmaf(place + 1.0f, half_side, -0.5f);
}

template <bool kFused, class T>
inline void find_places(Places& places, const SampleBlock<T>& block, const SampleGrid& grid) {
  const float half_width = static_cast<float>(grid.in_width) / 2;
  const float half_height = static_cast<float>(grid.in_height) / 2;
  const float y = grid.first_y + static_cast<float>(block.y);
  const float first_x = grid.first_x + static_cast<float>(block.x);
  if (!grid.is_perspective) {
    for (int i = 0; i < block.count; ++i) {
      const float x = first_x + static_cast<float>(i);
      places.x[i] = pixels_of(product<kFused>(grid.across, x, y), half_width);
      places.y[i] = pixels_of(product<kFused>(grid.down, x, y), half_height);
    }
    return;
  }
  for (int i = 0; i < block.count; ++i) {
    const float x = first_x + static_cast<float>(i);
    const float depth = product<kFused>(grid.depth, x, y);
    places.x[i] = pixels_of(product<kFused>(grid.across, x, y) / depth - 1.0f, half_width);
    places.y[i] = pixels_of(product<kFused>(grid.down, x, y) / depth - 1.0f, half_height);
  }
}

template <class T>
inline void locate(Places& places, const SampleBlock<T>& block, const SampleGrid& grid) {
  if (grid.fused)
    find_places<true>(places, block, grid);
  else
    find_places<false>(places, block, grid);
}

/// A whole number from -2, which is also where NaN ends, to the side: at both ends it and the next
/// one are in the border.
inline int whole_place(float place, int side) {
  const float last = static_cast<float>(side);
  const float raised = place >= -2.0f ? place : -2.0f;
  return static_cast<int>(raised > last ? last : raised);
}

/// For each pixel of a block, which pixel of the image is the nearest.
template <class T>
inline void find_nearest(int32_t* index, const SampleBlock<T>& block, const SampleGrid& grid,
                         ptrdiff_t row) {
  Places places;
  locate(places, block, grid);
  const int across = static_cast<int>(row);
  for (int i = 0; i < block.count; ++i) {
    const int x = whole_place(__builtin_rintf(places.x[i]), grid.in_width);
    const int y = whole_place(__builtin_rintf(places.y[i]), grid.in_height);
    index[i] = y * across + x;
  }
}

/// For each pixel of a block, where the four around it begin, and how much each of them counts.
struct Corners {
  int32_t index[kSampleBlock];
  float weight[4][kSampleBlock];
};

template <class T>
inline void find_corners(Corners& corners, const SampleBlock<T>& block, const SampleGrid& grid,
                         ptrdiff_t row) {
  Places places;
  locate(places, block, grid);
  const int across = static_cast<int>(row);
  for (int i = 0; i < block.count; ++i) {
    const float left = __builtin_floorf(places.x[i]), top = __builtin_floorf(places.y[i]);
    const float to_left = places.x[i] - left, to_top = places.y[i] - top;
    const float to_right = 1.0f - to_left, to_bottom = 1.0f - to_top;
    corners.weight[0][i] = to_bottom * to_right;
    corners.weight[1][i] = to_bottom * to_left;
    corners.weight[2][i] = to_top * to_right;
    corners.weight[3][i] = to_top * to_left;
    corners.index[i] = whole_place(top, grid.in_height) * across + whole_place(left, grid.in_width);
  }
}

inline float level(uint32_t word, int lane) {
  return static_cast<float>(static_cast<int32_t>((word >> (8 * lane)) & 255));
}

struct CornerWords {
  uint32_t word[4][kSampleBlock];
};

inline void mix_words(float* mixed, const CornerWords& words, const Corners& corners, int lane,
                      int count) {
  for (int i = 0; i < count; ++i) {
    const float first = level(words.word[0][i], lane) * corners.weight[0][i];
    const float two = __builtin_fmaf(level(words.word[1][i], lane), corners.weight[1][i], first);
    const float three = __builtin_fmaf(level(words.word[2][i], lane), corners.weight[2][i], two);
    mixed[i] = __builtin_fmaf(level(words.word[3][i], lane), corners.weight[3][i], three);
  }
}

inline float on_colour(float value, float share, float colour) {
  return (value - colour) * share + colour;
}

inline uint8_t rounded(float value) {
  return static_cast<uint8_t>(static_cast<int>(__builtin_rintf(value)));
}

/// a * b + c in each lane, rounded once.
inline LanePixel multiply_add(const LanePixel& a, float b, const LanePixel& c) {
  LanePixel out;
#if defined(__FMA__)
  _mm_storeu_ps(out.lane, _mm_fmadd_ps(_mm_loadu_ps(a.lane), _mm_set1_ps(b), _mm_loadu_ps(c.lane)));
#else
  for (int i = 0; i < 4; ++i) out.lane[i] = __builtin_fmaf(a.lane[i], b, c.lane[i]);
#endif
  return out;
}

inline LanePixel multiply(const LanePixel& a, float b) {
  LanePixel out;
  for (int i = 0; i < 4; ++i) out.lane[i] = a.lane[i] * b;
  return out;
}

}  // namespace

void nearest_words(const SampleBlock<uint8_t>& block, const BorderedPixels<uint32_t>& pixels,
                   const SampleGrid& grid) {
  int32_t index[kSampleBlock];
  uint32_t words[kSampleBlock];
  find_nearest(index, block, grid, pixels.row);
  for (int i = 0; i < block.count; ++i) words[i] = pixels.first[index[i]];
  for (int c = 0; c < block.channels; ++c) {
    uint8_t* to = block.plane[c];
    for (int i = 0; i < block.count; ++i) to[i] = static_cast<uint8_t>(words[i] >> (8 * c));
  }
}

void nearest_lanes(const SampleBlock<float>& block, const BorderedPixels<LanePixel>& pixels,
                   const SampleGrid& grid) {
  int32_t index[kSampleBlock];
  LanePixel found[kSampleBlock];
  find_nearest(index, block, grid, pixels.row);
  for (int i = 0; i < block.count; ++i) found[i] = pixels.first[index[i]];
  for (int c = 0; c < block.channels; ++c) {
    float* to = block.plane[c];
    for (int i = 0; i < block.count; ++i) to[i] = found[i].lane[c];
  }
}

void bilinear_words(const SampleBlock<uint8_t>& block, const BorderedPixels<uint32_t>& pixels,
                    const SampleGrid& grid, const SampleFill& fill) {
  Corners corners;
  CornerWords words;
  find_corners(corners, block, grid, pixels.row);
  const uint32_t* below = pixels.first + pixels.row;
  for (int i = 0; i < block.count; ++i) {
    const int at = corners.index[i];
    words.word[0][i] = pixels.first[at];
    words.word[1][i] = pixels.first[at + 1];
    words.word[2][i] = below[at];
    words.word[3][i] = below[at + 1];
  }
  float mixed[kSampleBlock], share[kSampleBlock];
  if (fill.has_fill) mix_words(share, words, corners, 3, block.count);
  for (int c = 0; c < block.channels; ++c) {
    mix_words(mixed, words, corners, c, block.count);
    if (fill.has_fill)
      for (int i = 0; i < block.count; ++i)
        mixed[i] = on_colour(mixed[i], share[i], fill.colour[c]);
    uint8_t* to = block.plane[c];
    for (int i = 0; i < block.count; ++i) to[i] = rounded(mixed[i]);
  }
}

void bilinear_lanes(const SampleBlock<float>& block, const BorderedPixels<LanePixel>& pixels,
                    const SampleGrid& grid, const SampleFill& fill) {
  Corners corners;
  LanePixel mixed[kSampleBlock];
  find_corners(corners, block, grid, pixels.row);
  for (int i = 0; i < block.count; ++i) {
    const LanePixel* above = pixels.first + corners.index[i];
    const LanePixel* below = above + pixels.row;
    LanePixel sum = multiply(above[0], corners.weight[0][i]);
    sum = multiply_add(above[1], corners.weight[1][i], sum);
    sum = multiply_add(below[0], corners.weight[2][i], sum);
    mixed[i] = multiply_add(below[1], corners.weight[3][i], sum);
  }
  for (int c = 0; c < block.channels; ++c) {
    float* to = block.plane[c];
    if (fill.has_fill)
      for (int i = 0; i < block.count; ++i)
        to[i] = on_colour(mixed[i].lane[c], mixed[i].lane[3], fill.colour[c]);
    else
      for (int i = 0; i < block.count; ++i) to[i] = mixed[i].lane[c];
  }
}

void pack_words(uint32_t* target, const SampleSource<uint8_t>& row, int count) {
  constexpr uint32_t kInside = 1u << 24;
  const uint8_t* first = row.data;
  if (row.channels == 1) {
    for (int i = 0; i < count; ++i) target[i] = kInside | first[i * row.pixel_stride];
    return;
  }
  const uint8_t* second = first + row.channel_stride;
  const uint8_t* third = second + row.channel_stride;
  if (row.pixel_stride == 1) {
    for (int i = 0; i < count; ++i)
      target[i] = kInside | first[i] | static_cast<uint32_t>(second[i]) << 8 |
                  static_cast<uint32_t>(third[i]) << 16;
    return;
  }
  for (int i = 0; i < count; ++i) {
    const ptrdiff_t at = i * row.pixel_stride;
    target[i] = kInside | first[at] | static_cast<uint32_t>(second[at]) << 8 |
                static_cast<uint32_t>(third[at]) << 16;
  }
}

void pack_lanes(LanePixel* target, const SampleSource<float>& row, int count) {
  const float* first = row.data;
  const ptrdiff_t next = row.channels == 1 ? 0 : row.channel_stride;
  for (int i = 0; i < count; ++i) {
    const float* pixel = first + i * row.pixel_stride;
    target[i] = {{pixel[0], pixel[next], pixel[2 * next], 1.0f}};
  }
}

}  // namespace penstock::PENSTOCK_ISA
