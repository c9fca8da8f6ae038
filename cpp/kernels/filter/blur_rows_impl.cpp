// The loops of blur_rows.h, compiled once per instruction set.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/filter/blur_rows.h"
#include "kernels/lanes/lanes.h"

namespace penstock::PENSTOCK_ISA {
namespace {

class BlurLoops {
 public:
  static void across(float* out, const float* in, const float* weight, int reach, int width) {
    for (int x = 0; x < width; x += kStep) {
      const Sums sums = weighted_sums(
          weight, reach, [&](int away, int lane) { return Lanes::load(in + x + away + lane); });
      for (int v = 0; v < kVectors; ++v) Lanes::store(out + x + v * Lanes::kCount, sums.vector[v]);
    }
  }

  static void down(uint8_t* out, BlurDoubts& doubts, const float* const* rows, const float* weight,
                   int reach, int width, int y) {
    for (int x = 0; x < width; x += kStep) {
      const Sums sums = sums_down(rows, weight, reach, x);
      for (int v = 0; v < kVectors; ++v) {
        const Lanes::Floats rounded = sums.vector[v] + kRounder;
        store_levels(out + x + v * Lanes::kCount, rounded);
        // Exact: the level is at most half a level away.
        const Lanes::Floats rest = sums.vector[v] - (rounded - kRounder);
        const uint32_t if_bright = Lanes::mask_beyond(rest, doubts.sure_bright);
        if (if_bright == 0) continue;
        const uint32_t in_any_case = Lanes::mask_beyond(rest, doubts.sure_dark);
        const uint32_t bright = Lanes::mask_beyond(sums.vector[v], kBlurDark);
        note(doubts, y, x + v * Lanes::kCount, in_any_case | (if_bright & bright), width);
      }
    }
  }

  static void down_to_floats(float* out, const float* const* rows, const float* weight, int reach,
                             int width) {
    for (int x = 0; x < width; x += kStep) {
      const Sums sums = sums_down(rows, weight, reach, x);
      for (int v = 0; v < kVectors; ++v) Lanes::store(out + x + v * Lanes::kCount, sums.vector[v]);
    }
  }

  static void widen(float* out, const uint8_t* in, int width) {
    for (int x = 0; x < width; x += Lanes::kCount)
      Lanes::store(out + x, Lanes::convert(Lanes::load_bytes(in + x)));
  }

  static void whole(uint8_t* out, const BlurWindow& window, int y, int width) {
    for (int x = 0; x < width; x += kStep) {
      Sums sums{};
      const float* weight = window.weights;
      for (int i = 0; i < window.height; ++i)
        for (int j = 0; j < window.width; ++j, ++weight)
          for (int v = 0; v < kVectors; ++v)
            sums.vector[v] =
                Lanes::multiply_add(Lanes::load(window.rows[y + i] + x + j + v * Lanes::kCount),
                                    *weight, sums.vector[v]);
      for (int v = 0; v < kVectors; ++v)
        store_levels(out + x + v * Lanes::kCount, sums.vector[v] + kRounder);
    }
  }

  static void at_places(uint8_t* out, const BlurWindow& window, const BlurPlace* places,
                        int count) {
    // Each sum waits for its last addition; several of them wait together.
    constexpr int kTogether = 8;
    for (int first = 0; first < count; first += kTogether) {
      const int present = std::min(kTogether, count - first);
      const float* pixels[kTogether];
      float sums[kTogether] = {};
      const float* weight = window.weights;
      for (int i = 0; i < window.height; ++i, weight += window.width) {
        for (int t = 0; t < kTogether; ++t) {
          const BlurPlace& place = places[first + std::min(t, present - 1)];
          pixels[t] = window.rows[place.y + i] + place.x;
        }
        for (int j = 0; j < window.width; ++j)
          for (int t = 0; t < kTogether; ++t) sums[t] = std::fma(pixels[t][j], weight[j], sums[t]);
      }
      for (int t = 0; t < present; ++t)
        out[first + t] = static_cast<uint8_t>(std::bit_cast<uint32_t>(sums[t] + kRounder));
    }
  }

 private:
  // Adding 1.5 * 2^23 leaves no room for fractions: the sum is rounded, ties to even, and the level
  // is in its lowest bits.
  static constexpr float kRounder = 0x1.8p23f;

  // Several vectors at a time: their sums are independent, which hides the latency of additions.
  static constexpr int kVectors = Lanes::kCount == 1 ? 1 : kBlurBlock / Lanes::kCount;
  static constexpr int kStep = kVectors * Lanes::kCount;

  struct Sums {
    Lanes::Floats vector[kVectors];
  };

  static void store_levels(uint8_t* out, Lanes::Floats rounded) {
    Lanes::store_bytes(out, Lanes::Ints(Lanes::words(rounded)));
  }

  static void note(BlurDoubts& doubts, int y, int x, uint32_t mask, int width) {
    for (; mask != 0; mask &= mask - 1) {
      doubts.places[doubts.count] = {y, x + std::countr_zero(mask)};
      doubts.count += doubts.places[doubts.count].x < width;
    }
  }

  template <class Load>
  static Sums weighted_sums(const float* weight, int reach, Load load) {
    Sums sums;
    for (int v = 0; v < kVectors; ++v) sums.vector[v] = load(0, v * Lanes::kCount) * weight[0];
    for (int i = 1; i <= reach; ++i)
      for (int v = 0; v < kVectors; ++v) {
        const int x = v * Lanes::kCount;
        sums.vector[v] += (load(-i, x) + load(i, x)) * weight[i];
      }
    return sums;
  }

  static Sums sums_down(const float* const* rows, const float* weight, int reach, int x) {
    const float* const* middle = rows + reach;
    return weighted_sums(weight, reach,
                         [&](int away, int lane) { return Lanes::load(middle[away] + x + lane); });
  }
};

}  // namespace

const BlurRows blur_rows{BlurLoops::across, BlurLoops::down,  BlurLoops::down_to_floats,
                         BlurLoops::widen,  BlurLoops::whole, BlurLoops::at_places};

}  // namespace penstock::PENSTOCK_ISA
