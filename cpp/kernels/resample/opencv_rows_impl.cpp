// Eight or sixteen pairs at a time.
#include "base/image.h"
#include "base/x86_vectors.h"
#include "kernels/resample/opencv_rows.h"

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr int kPairs = sizeof(Vector) / sizeof(PairWeights);

/// Sums of products, less four bits, as words.
void put_sums(int16_t* target, Vector pairs, const PairWeights* weights) {
  const Vector sums = MM(madd_epi16)(pairs, load(weights));
  store_half(target, narrow_to_words(MM(srai_epi32)(sums, 4)));
}

/// Four bytes from each start, of which the first two become words.
void across_gathered(int16_t* target, const uint8_t* row, const PairTable& table) {
  const int32_t* start = table.starts.data<int32_t>();
  const PairWeights* weights = table.weights.data<PairWeights>();
  for (int x = 0; x < table.count; x += kPairs) {
#if defined(PENSTOCK_ISA_AVX512)
    const Vector bytes = _mm512_i32gather_epi32(load(start + x), row, 1);
#else
    const Vector bytes =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(row), load(start + x), 1);
#endif
    const Vector low = MM_SI (and)(bytes, MM(set1_epi32)(0xFF));
    const Vector high = MM_SI (and)(MM(slli_epi32)(bytes, 8), MM(set1_epi32)(0xFF0000));
    put_sums(target + x, MM_SI(or)(low, high), weights + x);
  }
}

#if defined(PENSTOCK_ISA_AVX512)

constexpr int kWindow = 2 * sizeof(Vector);  // bytes that one permutation reads

/// For each vector of pairs: where its window begins, and where in it the bytes of its pairs lie.
struct Fetch {
  int32_t base;
  uint8_t index[sizeof(Vector)];
};

void prepare(PairTable& table) {
  const int32_t* start = table.starts.data<int32_t>();
  const int vectors = (table.count + kPairs - 1) / kPairs;
  Fetch* fetch = table.prepared.reserve<Fetch>(vectors);
  // A window must end where a row may still be read.
  const int last_base = table.samples + kRowSlack - kWindow;
  table.is_prepared = last_base >= 0;
  for (int v = 0; v < vectors && table.is_prepared; ++v) {
    const int32_t* own = start + v * kPairs;
    int32_t least = own[0];
    for (int i = 1; i < kPairs; ++i) least = own[i] < least ? own[i] : least;
    fetch[v].base = least < last_base ? least : last_base;
    for (int i = 0; i < kPairs; ++i) {
      const int place = own[i] - fetch[v].base;
      if (place + 1 >= kWindow) table.is_prepared = false;
      for (int b = 0; b < 4; ++b)
        fetch[v].index[4 * i + b] = static_cast<uint8_t>(b == 2 ? place + 1 : place);
    }
  }
}

void across(int16_t* target, const uint8_t* row, const PairTable& table) {
  if (!table.is_prepared) return across_gathered(target, row, table);
  const PairWeights* weights = table.weights.data<PairWeights>();
  const Fetch* fetch = table.prepared.data<Fetch>();
  for (int x = 0; x < table.count; x += kPairs, ++fetch) {
    const uint8_t* window = row + fetch->base;
    const Vector pairs = _mm512_maskz_permutex2var_epi8(
        0x5555555555555555, load(window), load(fetch->index), load(window + sizeof(Vector)));
    put_sums(target + x, pairs, weights + x);
  }
}

void put_bytes(uint8_t* target, Vector words) { store_half(target, _mm512_cvtepi16_epi8(words)); }

#else

void prepare(PairTable&) {}

void across(int16_t* target, const uint8_t* row, const PairTable& table) {
  across_gathered(target, row, table);
}

void put_bytes(uint8_t* target, Vector words) {
  const Vector packed = _mm256_packus_epi16(words, words);
  store_half(target, _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0b1000)));
}

#endif

void down(uint8_t* target, const int16_t* upper, const int16_t* lower, PairWeights weights,
          int columns) {
  const Vector first = MM(set1_epi16)(weights.first), second = MM(set1_epi16)(weights.second);
  const Vector two = MM(set1_epi16)(2);
  constexpr int kWords = sizeof(Vector) / sizeof(int16_t);
  for (int x = 0; x < columns; x += kWords) {
    const Vector sum = MM(add_epi16)(MM(mulhi_epi16)(load(upper + x), first),
                                     MM(mulhi_epi16)(load(lower + x), second));
    put_bytes(target + x, MM(srai_epi16)(MM(add_epi16)(sum, two), 2));
  }
}

}  // namespace

const OpencvRows opencv_rows{prepare, across, down};

}  // namespace penstock::PENSTOCK_ISA
