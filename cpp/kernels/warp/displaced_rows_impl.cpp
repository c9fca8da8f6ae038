// The kernels of displaced_rows.h, for vectors of any length; compiled once per instruction set.
//
// The order of products and sums is that of warp_displaced_scalar. Neighbours outside the image,
// which it leaves out, have weight 0 here.
#include "kernels/warp/warp_lanes.h"
#include "kernels/warp/warp_rows.h"

namespace penstock::PENSTOCK_ISA {
namespace {

struct DisplacedLoops {
  using Ints = Lanes::Ints;
  using Floats = Lanes::Floats;
  using Mask = Lanes::Mask;

  /// As many as those who take places may read.
  static int padded(int count) { return (count + kPartStep - 1) / kPartStep * kPartStep; }

  static void displace(DisplacedPlaces& places, const RowPart& part, const float* dx,
                       const float* dy) {
    for (int i = 0; i < part.count; ++i) {
      places.x[i] = static_cast<float>(part.x + i) + dx[i];
      places.y[i] = static_cast<float>(part.y) + dy[i];
    }
  }

  /// The same as far as any filter sees: beyond kFar pixels outside there is nothing.
  static Floats near_image(const float* places, int size) {
    constexpr int kFar = 4;
    return Lanes::clamp_floats(Lanes::load(places), -kFar, static_cast<float>(size + kFar));
  }

  static void nearest(int32_t* at, const RowPart& part, const BorderedImage& image,
                      const DisplacedPlaces& places) {
    const Ints stride = Lanes::all(static_cast<uint32_t>(image.stride));
    const Ints outside = Lanes::all(static_cast<uint32_t>(outside_of(image)));
    for (int i = 0; i < padded(part.count); i += Lanes::kCount) {
      const Ints x = Lanes::to_nearest(near_image(places.x + i, image.width));
      const Ints y = Lanes::to_nearest(near_image(places.y + i, image.height));
      const Mask inside =
          Lanes::both(Lanes::from_zero_to(x, image.width), Lanes::from_zero_to(y, image.height));
      Lanes::store(at + i,
                   Lanes::select(inside, Lanes::add(Lanes::multiply(y, stride), x), outside));
    }
  }

  /// The neighbours along one axis: the first, counted from the outermost that has any use, which
  /// lies in the border; their weights; and the sum of these.
  template <int kTaps>
  struct Taps {
    Ints first;
    Floats weight[kTaps];
    Floats sum;
  };

  template <int kTaps>
  static Taps<kTaps> taps_at(const float* places, int size) {
    constexpr int kBefore = kTaps / 2 - 1;  // neighbours before the one left of the place
    const Floats place = near_image(places, size);
    const Floats left = Lanes::floor_of(place);
    Taps<kTaps> taps;
    weights(taps.weight, Lanes::subtract(place, left));
    const Ints first = Lanes::add(Lanes::to_nearest(left), all(-kBefore));
    for (int i = 0; i < kTaps; ++i)
      taps.weight[i] =
          Lanes::or_zero(Lanes::from_zero_to(Lanes::add(first, all(i)), size), taps.weight[i]);
    taps.sum = taps.weight[0];
    for (int i = 1; i < kTaps; ++i) taps.sum = Lanes::add(taps.sum, taps.weight[i]);
    taps.first = Lanes::add(Lanes::clamp(first, 1 - kTaps, size - 1), all(kTaps - 1));
    return taps;
  }

  static Ints all(int value) { return Lanes::all(static_cast<uint32_t>(value)); }

  static void weights(Floats (&weight)[2], Floats share) {
    weight[0] = Lanes::subtract(Lanes::all(1.0f), share);
    weight[1] = share;
  }

  /// Cubic convolution with a = -0.75, as torch's grid_sample.
  static void weights(Floats (&weight)[4], Floats share) {
    weight[0] = far_weight(Lanes::add(share, Lanes::all(1.0f)));
    weight[1] = near_weight(share);
    weight[2] = near_weight(Lanes::subtract(Lanes::all(1.0f), share));
    weight[3] = far_weight(Lanes::subtract(Lanes::all(2.0f), share));
  }

  /// ((a + 2) d - (a + 3)) d d + 1
  static Floats near_weight(Floats d) {
    const Floats slope = Lanes::subtract(Lanes::multiply(Lanes::all(1.25f), d), Lanes::all(2.25f));
    return Lanes::add(Lanes::multiply(Lanes::multiply(slope, d), d), Lanes::all(1.0f));
  }

  /// ((a d - 5 a) d + 8 a) d - 4 a
  static Floats far_weight(Floats d) {
    Floats sum = Lanes::add(Lanes::multiply(Lanes::all(-0.75f), d), Lanes::all(3.75f));
    sum = Lanes::subtract(Lanes::multiply(sum, d), Lanes::all(6.0f));
    return Lanes::add(Lanes::multiply(sum, d), Lanes::all(3.0f));
  }

  template <int kTaps>
  static Floats weighted(const Floats (&values)[kTaps], const Floats (&weight)[kTaps]) {
    Floats sum = Lanes::multiply(weight[0], values[0]);
    for (int i = 1; i < kTaps; ++i) sum = Lanes::add(sum, Lanes::multiply(weight[i], values[i]));
    return sum;
  }

  template <int kTaps>
  static void filter(const RowPart& part, const BorderedImage& image, const DisplacedPlaces& places,
                     uint32_t fill) {
    static_assert(kTaps - 1 <= BorderedImage::kBorder);
    const uint32_t* const first = image.at(1 - kTaps, 1 - kTaps);
    const Ints stride = Lanes::all(static_cast<uint32_t>(image.stride));
    alignas(64) int32_t at[kTaken];
    alignas(64) uint64_t pairs[kTaps * (kTaps / 2)][kTaken];
    for (int i = 0; i < part.count; i += Lanes::kCount) {
      const int taken = i % kTaken;
      if (taken == 0) {
        const int rest = padded(part.count) - i, count = rest < kTaken ? rest : kTaken;
        for (int k = 0; k < count; k += Lanes::kCount) {
          const Ints across = taps_at<kTaps>(places.x + i + k, image.width).first;
          const Ints down = taps_at<kTaps>(places.y + i + k, image.height).first;
          Lanes::store(at + k, Lanes::add(Lanes::multiply(down, stride), across));
        }
        take_pairs<kTaps>(pairs, first, image.stride, at, count);
      }
      const Taps<kTaps> across = taps_at<kTaps>(places.x + i, image.width);
      const Taps<kTaps> down = taps_at<kTaps>(places.y + i, image.height);
      Ints words[kTaps][kTaps];
      for (int y = 0; y < kTaps; ++y)
        for (int x = 0; x < kTaps; x += 2) {
          const auto pair = Lanes::load_pairs(pairs[(y * kTaps + x) / 2] + taken);
          words[y][x] = pair.left;
          words[y][x + 1] = pair.right;
        }
      const Floats inside = Lanes::multiply(across.sum, down.sum);
#pragma GCC unroll 3
      for (int c = 0; c < 3; ++c) {
        if (c == part.channels) break;
        Floats rows[kTaps];
        for (int y = 0; y < kTaps; ++y) {
          Floats levels[kTaps];
          for (int x = 0; x < kTaps; ++x)
            levels[x] = Lanes::to_floats(Lanes::level(words[y][x], c));
          rows[y] = weighted(levels, across.weight);
        }
        const Floats colour = Lanes::to_floats(Lanes::all(fill >> (8 * c) & 0xff));
        const Floats above = Lanes::subtract(weighted(rows, down.weight), colour);
        const Floats mixed = Lanes::add(Lanes::multiply(above, inside), colour);
        Lanes::store_low_bytes(part.pixels[c] + i, Lanes::to_byte_range(Lanes::to_nearest(mixed)));
      }
    }
  }
};

constexpr DisplacedRows kernels{DisplacedLoops::displace, DisplacedLoops::nearest,
                                DisplacedLoops::filter<2>, DisplacedLoops::filter<4>};

}  // namespace

const DisplacedRows* const displaced_rows = &kernels;

}  // namespace penstock::PENSTOCK_ISA
