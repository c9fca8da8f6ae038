// The vector kernels of a warp: part of an output row at a time, first its places, then its pixels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/dispatch.h"
#include "kernels/warp/bordered_image.h"
#include "kernels/warp/nearest_paths.h"

namespace penstock {

/// A part of a row of the output: `count` pixels from (y, x) of the whole output on. Kernels work
/// on whole vectors, up to kPartStep - 1 pixels past the end.
struct RowPart {
  uint8_t* pixels[3] = {};
  int channels = 0;
  int y = 0;
  int x = 0;
  int count = 0;
};

inline constexpr int kPartPixels = 256;
inline constexpr int kPartStep = 16;

/// The place of pixels from outside the image: left of the first that is there, where nearest finds
/// the fill.
inline int32_t outside_of(const BorderedImage& image) { return image.origin - 1; }

/// Where the pixels of a part come from.
struct Places {
  alignas(64) double x[kPartPixels];
  alignas(64) double y[kPartPixels];
  alignas(64) int32_t at[kPartPixels];  // words from the source's first; outside_of for the fill
};

/// Places on a line, for pixels of a part one after the other: the upper left one of the four
/// pixels around each place, and how far it is from there, in fixed point.
struct RoundedLine {
  static constexpr int kBits = 15;
  static constexpr int kWeightBits = 7;  // of neighbours side by side

  int32_t x, y;    // of the first
  int32_t dx, dy;  // to the next
};

/// Whether all four pixels around every place of a part of an affine warp lie in a source of this
/// size, so that the line can say where they are.
inline bool find_line(RoundedLine& line, const RowPart& part, const double (&m)[6], int height,
                      int width) {
  constexpr double kOne = 1 << RoundedLine::kBits;
  constexpr double kRoom = 1.0 / 64;  // more than rounded steps can add up to
  constexpr int kLargest = std::numeric_limits<int32_t>::max() >> RoundedLine::kBits;
  const double centre_x = part.x + 0.5, centre_y = part.y + 0.5, steps = part.count - 1;
  const double x = m[0] * centre_x + m[1] * centre_y + m[2] - 0.5;
  const double y = m[3] * centre_x + m[4] * centre_y + m[5] - 0.5;
  const auto is_within = [&](double first, double step, int size) {
    const double last = first + steps * step;  // NaN is not within
    return first >= kRoom && last >= kRoom && first < size - 1 - kRoom && last < size - 1 - kRoom;
  };
  if (height > kLargest || width > kLargest || !is_within(x, m[0], width) ||
      !is_within(y, m[3], height))
    return false;
  const auto fixed = [](double value) { return static_cast<int32_t>(std::floor(value * kOne)); };
  const auto step = [&](double value) { return part.count > 1 ? fixed(value + 0.5 / kOne) : 0; };
  line = {fixed(x), fixed(y), step(m[0]), step(m[3])};
  return true;
}

/// The first kernels find places, as x and y or, from these or at once, as `at`; the last write
/// pixels, where `fill` is a word as in the bordered image.
struct WarpRows {
  void (*to_words)(uint32_t* words, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                   int width);

  void (*affine)(Places& places, const RowPart& part, const double (&matrix)[6]);
  void (*perspective)(Places& places, const RowPart& part, const double (&matrix)[8]);

  void (*nearest_fixed)(Places& places, const RowPart& part, const BorderedImage& image,
                        const FixedMatrix& matrix);
  void (*nearest)(Places& places, const RowPart& part, const BorderedImage& image);

  /// A nearest warp of a whole image of at most 2^14 rows and columns. False, and nothing is done,
  /// if the pixels of a tile lie too far from each other. Null where byte shuffles are too short.
  bool (*copy_tiles)(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                     const uint8_t (&fill)[3]);

  /// Takes the words first[at[i]]; `part` may be a whole row.
  void (*copy)(const RowPart& part, const uint32_t* first, const int32_t* at);
  void (*bilinear)(const RowPart& part, const BorderedImage& image, const Places& places,
                   uint32_t fill);
  void (*bicubic)(const RowPart& part, const BorderedImage& image, const Places& places,
                  uint32_t fill);
  /// Gives the bits of warp_affine_rounded_scalar.
  void (*bilinear_rounded)(const RowPart& part, const BorderedImage& image,
                           const RoundedLine& line);
};

/// Null in sets that have no vector kernels and warp pixel by pixel (warp_scalar.h).
PENSTOCK_VARIANTS(extern const WarpRows* const warp_rows)

/// Requires has_vectors.
inline const WarpRows& warp_rows() { return *PENSTOCK_PICK(warp_rows); }

// The kernels of warp_displaced.

/// Where the pixels of a part come from.
struct DisplacedPlaces {
  alignas(64) float x[kPartPixels] = {};
  alignas(64) float y[kPartPixels] = {};
};

/// All give the bits of warp_displaced_scalar.
struct DisplacedRows {
  /// `dx` and `dy` are those of the part.
  void (*displace)(DisplacedPlaces& places, const RowPart& part, const float* dx, const float* dy);
  /// Words from the image's first; outside_of where there is none.
  void (*nearest)(int32_t* at, const RowPart& part, const BorderedImage& image,
                  const DisplacedPlaces& places);
  void (*bilinear)(const RowPart& part, const BorderedImage& image, const DisplacedPlaces& places,
                   uint32_t fill);
  void (*bicubic)(const RowPart& part, const BorderedImage& image, const DisplacedPlaces& places,
                  uint32_t fill);
};

/// Null in sets where warp_rows is.
PENSTOCK_VARIANTS(extern const DisplacedRows* const displaced_rows)

/// Whether this set has vector kernels, and they can take this image.
inline bool has_vectors(const PlanarView& in, const WarpFrame& frame) {
  return PENSTOCK_PICK(warp_rows) != nullptr && can_border(in, frame);
}

inline uint32_t word_of(const uint8_t (&fill)[3]) {
  return fill[0] | uint32_t{fill[1]} << 8 | uint32_t{fill[2]} << 16;
}

/// How many rows of the output to do strip by strip before the next ones. `slope` says by how many
/// rows of the source two neighbours in a row of the output are apart. The strips of a steep warp
/// have their places side by side, and what the first cache holds for one row serves the next. Flat
/// ones run along the source's rows, which memory is best at.
inline int band_rows(const PlanarView& in, double slope) {
  constexpr int64_t kLarge = 1 << 22;  // pixels, of four bytes: far more than a second cache holds
  constexpr double kSteep = 0.65;
  constexpr int kBand = 128;
  return std::fabs(slope) > kSteep && int64_t{in.height} * in.width > kLarge ? kBand : 1;
}

template <class Body>
void for_each_part(const PlanarTarget& out, const WarpFrame& frame, int band, Body body) {
  RowPart part;
  part.channels = out.channels;
  for (int top = 0; top < out.height; top += band)
    for (int x = 0; x < out.width; x += kPartPixels)
      for (int y = top; y < std::min(top + band, out.height); ++y) {
        part.y = frame.out_top + y;
        part.x = frame.out_left + x;
        part.count = std::min(kPartPixels, out.width - x);
        for (int c = 0; c < out.channels; ++c) part.pixels[c] = out.row(c, y) + x;
        body(part);
      }
}

}  // namespace penstock
