// The kernels of warp_rows.h, for vectors of any length; compiled once per instruction set.
//
// The filters work in single precision and cut the result off to a whole level. Their error is far
// below a `cell` of the scale to which results are first cut: where a result lies in the cell
// below or above a whole level, double precision decides. Equal neighbours, common in flat areas,
// are such a case that needs no decision.
#include "kernels/warp/warp_lanes.h"
#include "kernels/warp/warp_rows.h"

namespace penstock::PENSTOCK_ISA {

#if defined(PENSTOCK_ISA_AVX512)
bool copy_tiles(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                const uint8_t (&fill)[3]);  // tiles_avx512.cpp
#else
constexpr decltype(WarpRows::copy_tiles) copy_tiles = nullptr;
#endif

namespace {

struct WarpLoops {
  using Ints = Lanes::Ints;
  using Floats = Lanes::Floats;
  using Doubles = Lanes::Doubles;  // half as many
  using Mask = Lanes::Mask;

  static int padded(int count) { return (count + kPartStep - 1) / kPartStep * kPartStep; }

  // ---- places: plain loops, which compilers turn into vectors ----

  static void to_words(uint32_t* words, const uint8_t* red, const uint8_t* green,
                       const uint8_t* blue, int width) {
    for (int x = 0; x < padded(width); ++x)
      words[x] = red[x] | uint32_t{green[x]} << 8 | uint32_t{blue[x]} << 16;
  }

  static void affine(Places& places, const RowPart& part, const double (&m)[6]) {
    const double centre_y = part.y + 0.5;
    const double x_by_row = m[1] * centre_y, y_by_row = m[4] * centre_y;
    for (int i = 0; i < padded(part.count); ++i) {
      const double centre_x = (part.x + i) + 0.5;
      places.x[i] = m[0] * centre_x + x_by_row + m[2];
      places.y[i] = m[3] * centre_x + y_by_row + m[5];
    }
  }

  static void perspective(Places& places, const RowPart& part, const double (&m)[8]) {
    const double centre_y = part.y + 0.5;
    const double x_by_row = m[1] * centre_y, y_by_row = m[4] * centre_y;
    const double depth_by_row = m[7] * centre_y;
    for (int i = 0; i < padded(part.count); ++i) {
      const double centre_x = (part.x + i) + 0.5;
      const double depth = m[6] * centre_x + depth_by_row + 1;
      places.x[i] = (m[0] * centre_x + x_by_row + m[2]) / depth;
      places.y[i] = (m[3] * centre_x + y_by_row + m[5]) / depth;
    }
  }

  static void nearest_fixed(Places& places, const RowPart& part, const BorderedImage& image,
                            const FixedMatrix& m) {
    const uint32_t row = static_cast<uint32_t>(part.y);
    const uint32_t x_by_row = m.b * row + m.c, y_by_row = m.e * row + m.f;
    const int stride = static_cast<int>(image.stride), outside = outside_of(image);
    for (int i = 0; i < padded(part.count); ++i) {
      const uint32_t column = static_cast<uint32_t>(part.x + i);
      const int x = static_cast<int32_t>(m.a * column + x_by_row) >> 16;
      const int y = static_cast<int32_t>(m.d * column + y_by_row) >> 16;
      const bool inside = (x >= 0) & (x < image.width) & (y >= 0) & (y < image.height);
      places.at[i] = inside ? static_cast<int>(static_cast<uint32_t>(y) * stride + x) : outside;
    }
  }

  static bool is_within(const Places& places, int i, double height, double width) {
    return (places.x[i] >= 0.0) & (places.x[i] < width) & (places.y[i] >= 0.0) &
           (places.y[i] < height);
  }

  static void nearest(Places& places, const RowPart& part, const BorderedImage& image) {
    const int stride = static_cast<int>(image.stride), outside = outside_of(image);
    for (int i = 0; i < padded(part.count); ++i) {
      const bool inside = is_within(places, i, image.height, image.width);
      const int x = static_cast<int>(inside ? places.x[i] : 0.0);
      const int y = static_cast<int>(inside ? places.y[i] : 0.0);
      places.at[i] = inside ? y * stride + x : outside;
    }
  }

  // ---- pixels ----

  static void copy(const RowPart& part, const uint32_t* first, const int32_t* at) {
    alignas(64) int32_t words[kPartPixels];
    for (int start = 0; start < part.count; start += kPartPixels) {
      const int rest = part.count - start;
      const int count = padded(rest < kPartPixels ? rest : kPartPixels);
      // One load a pixel: gather instructions take longer.
      for (int i = 0; i < count; ++i) words[i] = static_cast<int32_t>(first[at[start + i]]);
      for (int i = 0; i < count; i += Lanes::kCount) {
        const Ints pixels = Lanes::load(words + i);
#pragma GCC unroll 3
        for (int c = 0; c < part.channels; ++c)
          Lanes::store_low_bytes(part.pixels[c] + start + i, Lanes::shift_right(pixels, 8 * c));
      }
    }
  }

  static bool all_outside(const RowPart& part, Mask inside, int i, uint32_t fill) {
    if (Lanes::any(inside)) return false;
    for (int c = 0; c < part.channels; ++c)
      Lanes::store_low_bytes(part.pixels[c] + i, Lanes::all(fill >> (8 * c)));
    return true;
  }

  /// Places of some pixels: where the upper left of the four pixels around each lies, from the
  /// pixel left above image.first, and how far right of it and below it the place is. The first
  /// pixel that is there for places outside.
  struct Neighbours {
    alignas(64) int32_t at[kTaken];
    alignas(64) float right[kTaken];
    alignas(64) float below[kTaken];
    Mask inside[kTaken / Lanes::kCount];
  };

  static void find(Neighbours& found, const Places& places, int start, int count,
                   const BorderedImage& image) {
    const Ints one = Lanes::all(1u), stride = Lanes::all(static_cast<uint32_t>(image.stride));
    const Ints somewhere = Lanes::all(static_cast<uint32_t>(image.origin));
    for (int i = 0; i < count; i += Lanes::kCount) {
      const auto across = Lanes::split(places.x + start + i, image.width);
      const auto down = Lanes::split(places.y + start + i, image.height);
      const Mask inside = Lanes::both(across.inside, down.inside);
      const Ints at = Lanes::add(Lanes::multiply(Lanes::add(down.whole, one), stride),
                                 Lanes::add(across.whole, one));
      Lanes::store(found.at + i, Lanes::select(inside, at, somewhere));
      Lanes::store(found.right + i, across.rest);
      Lanes::store(found.below + i, down.rest);
      found.inside[i / Lanes::kCount] = inside;
    }
  }

  /// `body(i, found, pairs, k)` for each vector of pixels, of which some are inside: pixel i of the
  /// part is the k-th of those that were found, and `pairs` are its kRows x kRows neighbours from
  /// `first` on, two by two.
  template <int kRows, class Body>
  static void for_each_vector(const RowPart& part, const BorderedImage& image, const Places& places,
                              const uint32_t* first, uint32_t fill, Body body) {
    constexpr int kPairs = kRows / 2;  // of a row
    Neighbours found;
    alignas(64) uint64_t pairs[kRows * kPairs][kTaken];
    for (int start = 0; start < part.count; start += kTaken) {
      const int rest = part.count - start, count = padded(rest < kTaken ? rest : kTaken);
      find(found, places, start, count, image);
      take_pairs<kRows>(pairs, first, image.stride, found.at, count);
      for (int k = 0; k < count; k += Lanes::kCount) {
        if (all_outside(part, found.inside[k / Lanes::kCount], start + k, fill)) continue;
        body(start + k, found, pairs, k);
      }
    }
  }

  static void bilinear(const RowPart& part, const BorderedImage& image, const Places& places,
                       uint32_t fill) {
    // Levels are below 256 and shares below 1, so each of five roundings (of both shares, a row's
    // sum, the rows' difference, the result) adds at most 2^-17.
    constexpr int kCellBits = 14;
    const auto body = [&](int i, const Neighbours& found, const auto& pairs, int k) {
      const Floats right = Lanes::load(found.right + k), below = Lanes::load(found.below + k);
      const auto [top_left, top_right] = Lanes::load_pairs(pairs[0] + k);
      const auto [low_left, low_right] = Lanes::load_pairs(pairs[1] + k);
      const Ints differences = Lanes::merge_differences(
          Lanes::merge_differences(Lanes::differences(top_left, top_right), top_left, low_left),
          top_left, low_right);
#pragma GCC unroll 3
      for (int c = 0; c < 3; ++c) {
        if (c == part.channels) break;
        const Ints taps[4] = {Lanes::level(top_left, c), Lanes::level(top_right, c),
                              Lanes::level(low_left, c), Lanes::level(low_right, c)};
        const Floats top = between(Lanes::to_floats(taps[0]), Lanes::to_floats(taps[1]), right);
        const Floats low = between(Lanes::to_floats(taps[2]), Lanes::to_floats(taps[3]), right);
        const Ints cells = Lanes::cut_off(between(top, low, below), 1 << kCellBits);
        const Mask doubtful =
            Lanes::both(is_beside_level(cells, kCellBits), differs(differences, c));
        Ints levels = Lanes::shift_right(cells, kCellBits);
        if (Lanes::any(doubtful))
          levels = Lanes::select(doubtful, exact_bilinear(taps, places, i), levels);
        store(part, c, i, found.inside[k / Lanes::kCount], levels, fill);
      }
    };
    for_each_vector<2>(part, image, places, image.at(-1, -1), fill, body);
  }

  /// What bilinear_rounded needs of some pixels: where their four neighbours lie, and their
  /// weights: of the left and the right one, a byte each, and of the lower ones.
  struct Rounded {
    alignas(64) int32_t at[kTaken];
    alignas(64) int32_t across[kTaken];
    alignas(64) int32_t below[kTaken];
  };

  static void find(Rounded& found, const RoundedLine& line, int count, const BorderedImage& image) {
    constexpr int kBits = RoundedLine::kBits, kShift = kBits - RoundedLine::kWeightBits;
    constexpr int kOne = 1 << RoundedLine::kWeightBits, kRest = (1 << kBits) - 1;
    const int stride = static_cast<int>(image.stride);
    for (int i = 0; i < padded(count); ++i) {
      // Behind the last pixel, places may be anywhere.
      const uint32_t steps = static_cast<uint32_t>(i);
      const int x = static_cast<int32_t>(line.x + steps * static_cast<uint32_t>(line.dx));
      const int y = static_cast<int32_t>(line.y + steps * static_cast<uint32_t>(line.dy));
      const int right = ((x & kRest) + (1 << (kShift - 1))) >> kShift;
      found.at[i] = (y >> kBits) * stride + (x >> kBits);
      found.across[i] = kOne - right + (right << 8);
      found.below[i] = y & kRest;
    }
    for (int i = count; i < padded(count); ++i) found.at[i] = found.at[count - 1];
  }

  static void bilinear_rounded(const RowPart& part, const BorderedImage& image,
                               const RoundedLine& line) {
    Rounded found;
    for (int start = 0; start < part.count; start += kTaken) {
      const int rest = part.count - start, count = rest < kTaken ? rest : kTaken;
      find(found, {line.x + start * line.dx, line.y + start * line.dy, line.dx, line.dy}, count,
           image);
      for (int k = 0; k < count; k += Lanes::kCount)
        Lanes::store_planes(part.pixels, part.channels, start + k, mix(found, k, image));
    }
  }

  /// The pixels from the k-th on, four bytes each. Two pixels and two go through it apart, and
  /// packing both brings them together again, in order.
  static Ints mix(const Rounded& found, int k, const BorderedImage& image) {
    constexpr int kWeightBits = RoundedLine::kWeightBits;
    const Ints signs = MM(set1_epi8)(-128), middle = MM(set1_epi16)(128 << kWeightBits);
    const Ints across = Lanes::load(found.across + k), below = Lanes::load(found.below + k);
    Ints levels[2];
    for (int half = 0; half < 2; ++half) {
      const Ints weights = Lanes::words_of_pixels(across, half);
      const auto row = [&](const uint32_t* first) {
        const Ints pairs = Lanes::take_pairs(first, found.at + k + 2 * half);
        return MM(maddubs_epi16)(weights, Lanes::side_by_side(MM_SI(xor)(pairs, signs)));
      };
      const Ints top = row(image.first), low = row(image.first + image.stride);
      const Ints moved =
          MM(mulhrs_epi16)(MM(sub_epi16)(low, top), Lanes::words_of_pixels(below, half));
      levels[half] = MM(srli_epi16)(MM(add_epi16)(MM(add_epi16)(top, moved), middle), kWeightBits);
    }
    return MM(packus_epi16)(levels[0], levels[1]);
  }

  static void bicubic(const RowPart& part, const BorderedImage& image, const Places& places,
                      uint32_t fill) {
    // A weight is wrong by less than 2^-22, a row's sum so by less than 1.3 * 2^-12, and the sum of
    // rows, whose weights have absolute values of at most 1.5 together, by less than 2^-10.
    constexpr int kCellBits = 10;
    const auto body = [&](int i, const Neighbours& found, const auto& pairs, int k) {
      Ints words[16];
      for (int pair = 0; pair < 8; ++pair) {
        const auto sides = Lanes::load_pairs(pairs[pair] + k);
        words[2 * pair] = sides.left;
        words[2 * pair + 1] = sides.right;
      }
      Ints differences = Lanes::differences(words[0], words[1]);
      for (int tap = 2; tap < 16; ++tap)
        differences = Lanes::merge_differences(differences, words[0], words[tap]);
      Floats across[4], down[4];
      weights(across, Lanes::load(found.right + k));
      weights(down, Lanes::load(found.below + k));
#pragma GCC unroll 3
      for (int c = 0; c < 3; ++c) {
        if (c == part.channels) break;
        Floats rows[4];
        for (int row = 0; row < 4; ++row) {
          Floats levels[4];
          for (int x = 0; x < 4; ++x)
            levels[x] = Lanes::to_floats(Lanes::level(words[4 * row + x], c));
          rows[row] = weighted(levels, across);
        }
        const Ints cells = Lanes::cut_off(weighted(rows, down), 1 << kCellBits);
        const Mask different = differs(differences, c);
        const Mask doubtful = Lanes::both(is_beside_level(cells, kCellBits), different);
        Ints levels = Lanes::to_byte_range(Lanes::shift_right_signed(cells, kCellBits));
        if (Lanes::any(doubtful))
          levels = Lanes::select(doubtful, exact_bicubic(words, c, places, i), levels);
        store(part, c, i, found.inside[k / Lanes::kCount],
              Lanes::select(different, levels, Lanes::level(words[0], c)), fill);
      }
    };
    for_each_vector<4>(part, image, places, image.at(-2, -2), fill, body);
  }

  static void store(const RowPart& part, int channel, int i, Mask inside, Ints levels,
                    uint32_t fill) {
    Lanes::store_low_bytes(part.pixels[channel] + i,
                           Lanes::select(inside, levels, Lanes::all(fill >> (8 * channel))));
  }

  static Floats between(Floats left, Floats right, Floats share) {
    return Lanes::multiply_add(Lanes::subtract(right, left), share, left);
  }

  /// Whether the cell is the last below a whole level or the first above it.
  static Mask is_beside_level(Ints cells, int cell_bits) {
    return Lanes::has_no_bit(Lanes::add(cells, Lanes::all(1u)), Lanes::all((1u << cell_bits) - 2));
  }

  static Mask differs(Ints differences, int channel) {
    return Lanes::has_any_bit(differences, Lanes::all(0xffu << (8 * channel)));
  }

  /// The weights of four neighbours at `d` of the way from the second to the third:
  /// -d + 2dd - ddd, 1 - 2dd + ddd, d + dd - ddd, -dd + ddd.
  static void weights(Floats (&weights)[4], Floats d) {
    const Floats one = Lanes::all(1.0f);
    const Floats square = Lanes::multiply(d, d);
    const Floats rest = Lanes::subtract(one, d);
    weights[3] = Lanes::subtract(Lanes::multiply(square, d), square);
    weights[1] = Lanes::subtract(one, Lanes::subtract(square, weights[3]));
    weights[2] = Lanes::subtract(d, weights[3]);
    weights[0] = Lanes::subtract(Lanes::all(0.0f), Lanes::multiply(d, Lanes::multiply(rest, rest)));
  }

  static Floats weighted(const Floats (&values)[4], const Floats (&weights)[4]) {
    const Floats sum =
        Lanes::multiply_add(values[1], weights[1], Lanes::multiply(values[0], weights[0]));
    return Lanes::multiply_add(values[3], weights[3],
                               Lanes::multiply_add(values[2], weights[2], sum));
  }

  // ---- the same in double precision, in Pillow's order of sums (filters.h) ----

  static Doubles between(Doubles left, Doubles right, Doubles share) {
    return Lanes::add(left, Lanes::multiply(Lanes::subtract(right, left), share));
  }

  static Ints exact_bilinear(const Ints (&taps)[4], const Places& places, int i) {
    Lanes::HalfInts halves[2];
    for (int half = 0; half < 2; ++half) {
      const Doubles right = Lanes::rest_of(places.x + i + half * Lanes::kCount / 2);
      const Doubles below = Lanes::rest_of(places.y + i + half * Lanes::kCount / 2);
      Doubles levels[4];
      for (int tap = 0; tap < 4; ++tap) levels[tap] = Lanes::to_doubles(taps[tap], half);
      halves[half] = Lanes::cut_off(between(between(levels[0], levels[1], right),
                                            between(levels[2], levels[3], right), below));
    }
    return Lanes::join(halves[0], halves[1]);
  }

  static Ints exact_bicubic(const Ints (&words)[16], int channel, const Places& places, int i) {
    Lanes::HalfInts halves[2];
    for (int half = 0; half < 2; ++half) {
      const Doubles right = Lanes::rest_of(places.x + i + half * Lanes::kCount / 2);
      const Doubles below = Lanes::rest_of(places.y + i + half * Lanes::kCount / 2);
      Doubles rows[4];
      for (int row = 0; row < 4; ++row) {
        Doubles levels[4];
        for (int x = 0; x < 4; ++x)
          levels[x] = Lanes::to_doubles(Lanes::level(words[4 * row + x], channel), half);
        rows[row] = cubic(levels, right);
      }
      halves[half] = Lanes::cut_off(cubic(rows, below));
    }
    return Lanes::to_byte_range(Lanes::join(halves[0], halves[1]));
  }

  static Doubles cubic(const Doubles (&v)[4], Doubles share) {
    const Doubles difference = Lanes::subtract(v[0], v[1]);
    const Doubles p2 = Lanes::subtract(v[2], v[0]);
    const Doubles p3 = Lanes::subtract(Lanes::add(Lanes::add(difference, difference), v[2]), v[3]);
    const Doubles p4 = Lanes::add(Lanes::subtract(Lanes::subtract(v[1], v[0]), v[2]), v[3]);
    return Lanes::add(
        v[1], Lanes::multiply(
                  share, Lanes::add(p2, Lanes::multiply(
                                            share, Lanes::add(p3, Lanes::multiply(share, p4))))));
  }
};

constexpr WarpRows kernels{WarpLoops::to_words,    WarpLoops::affine,
                           WarpLoops::perspective, WarpLoops::nearest_fixed,
                           WarpLoops::nearest,     copy_tiles,
                           WarpLoops::copy,        WarpLoops::bilinear,
                           WarpLoops::bicubic,     WarpLoops::bilinear_rounded};

}  // namespace

const WarpRows* const warp_rows = &kernels;

}  // namespace penstock::PENSTOCK_ISA
