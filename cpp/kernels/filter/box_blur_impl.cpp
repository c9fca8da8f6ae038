// The rows of box_blur.h, for AVX2 and AVX-512.
#include "base/x86_vectors.h"
#include "kernels/filter/box_blur.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kWords = kVectorBytes / static_cast<int>(sizeof(uint16_t));
static_assert(kBoxBlock % (2 * kWords) == 0);

/// Weights of 24 bits in two parts that fit the 16 bits of a product, each beside the one for ends.
class Weigh {
 public:
  explicit Weigh(const BoxWeights& weights)
      : high_(pair(weights.inside >> kLowBits, weights.ends >> kLowBits)),
        low_(pair(weights.inside & kLowMask, weights.ends & kLowMask)),
        half_(MM(set1_epi32)(1 << 23)) {}

  /// The mean, from words that are sums of what is inside, and of the ends.
  Vector operator()(Vector inside, Vector ends) const {
    // Unpacking and packing stay within 128 bits both ways, so the order comes out right.
    return MM(packus_epi32)(of_pairs(MM(unpacklo_epi16)(inside, ends)),
                            of_pairs(MM(unpackhi_epi16)(inside, ends)));
  }

 private:
  static constexpr int kLowBits = 12, kLowMask = (1 << kLowBits) - 1;

  static Vector pair(uint32_t inside, uint32_t ends) {
    return MM(set1_epi32)(static_cast<int>(ends << 16 | inside));
  }

  Vector of_pairs(Vector pairs) const {
    const Vector high = MM(slli_epi32)(MM(madd_epi16)(pairs, high_), kLowBits);
    return MM(srli_epi32)(MM(add_epi32)(dot_and_add(half_, pairs, low_), high), 24);
  }

  Vector high_, low_, half_;
};

[[gnu::always_inline]] inline void mean_of(uint16_t* out, const uint16_t* const* taps, int last,
                                           const BoxWeights& weights, int width) {
  const Weigh weigh(weights);
  for (int x = 0; x < width; x += kWords) {
    Vector sum = load(taps[1] + x);
    for (int i = 2; i < last; ++i) sum = MM(add_epi16)(sum, load(taps[i] + x));
    store(out + x, weigh(sum, MM(add_epi16)(load(taps[0] + x), load(taps[last] + x))));
  }
}

/// So few taps stay in registers.
template <int kCount>
void mean_of_few(uint16_t* out, const uint16_t* const* taps, const BoxWeights& weights, int width) {
  const uint16_t* own[kCount];
  for (int i = 0; i < kCount; ++i) own[i] = taps[i];
  mean_of(out, own, kCount - 1, weights, width);
}

void mean(uint16_t* out, const uint16_t* const* taps, const BoxWeights& weights, int width) {
  switch (weights.radius) {
    case 0:
      return mean_of_few<3>(out, taps, weights, width);
    case 1:
      return mean_of_few<5>(out, taps, weights, width);
    default:
      return mean_of(out, taps, 2 * weights.radius + 2, weights, width);
  }
}

void mean_of_sums(uint16_t* out, const uint16_t* sums, const uint16_t* first, const uint16_t* last,
                  const BoxWeights& weights, int width) {
  const Weigh weigh(weights);
  for (int x = 0; x < width; x += kWords)
    store(out + x, weigh(load(sums + x), MM(add_epi16)(load(first + x), load(last + x))));
}

void slide(uint16_t* sums, const uint16_t* add, const uint16_t* remove, int width) {
  for (int x = 0; x < width; x += kWords)
    store(sums + x, MM(sub_epi16)(MM(add_epi16)(load(sums + x), load(add + x)), load(remove + x)));
}

#if defined(PENSTOCK_ISA_AVX512)
Vector words_of(HalfVector bytes) { return _mm512_cvtepu8_epi16(bytes); }
HalfVector bytes_of(Vector words) { return _mm512_cvtepi16_epi8(words); }
#else
Vector words_of(HalfVector bytes) { return _mm256_cvtepu8_epi16(bytes); }
HalfVector bytes_of(Vector words) {
  return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}
#endif

void widen(uint16_t* out, const uint8_t* in, int width) {
  for (int x = 0; x < width; x += kWords) store(out + x, words_of(load_half(in + x)));
}

void narrow(uint8_t* out, const uint16_t* in, int width) {
  for (int x = 0; x < width; x += kWords) store_half(out + x, bytes_of(load(in + x)));
}

}  // namespace

const BoxRows box_rows = {mean, mean_of_sums, slide, widen, narrow};

}  // namespace penstock::PENSTOCK_ISA
