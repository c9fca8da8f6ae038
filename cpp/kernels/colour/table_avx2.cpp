#include <immintrin.h>

#include "kernels/colour/lookup_avx2.h"
#include "kernels/colour/variants.h"

namespace penstock::avx2 {
namespace {

constexpr int kStep = 32;

struct Range {
  __m256i least = _mm256_set1_epi8(-1);
  __m256i greatest = _mm256_setzero_si256();
};

template <class Map>
Range range_of(const PlanarView& image, int channel, const Map& map) {
  Range range;
  const __m256i ones = _mm256_set1_epi8(-1);
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(channel, y);
    for (int x = 0; x < image.width; x += kStep) {
      const __m256i levels = map(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + x)));
      const __m256i inside = first_bytes(image.width - x);
      const __m256i outside = _mm256_xor_si256(inside, ones);
      range.least = _mm256_min_epu8(range.least, _mm256_or_si256(levels, outside));
      range.greatest = _mm256_max_epu8(range.greatest, _mm256_and_si256(levels, inside));
    }
  }
  return range;
}

template <class Map>
void map_channel(const PlanarTarget& out, const PlanarView& in, int channel, const Map& map) {
  for (int y = 0; y < in.height; ++y) {
    const uint8_t* levels = in.row(channel, y);
    uint8_t* row = out.row(channel, y);
    for (int x = 0; x < in.width; x += kStep)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(row + x),
                          map(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(levels + x))));
  }
}

__m256i repeated(uint8_t level) { return _mm256_set1_epi8(static_cast<char>(level)); }

}  // namespace

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  for (int c = 0; c < in.channels; ++c) {
    BitChange change;
    if (!is_bit_change(change, table.value[c])) {
      map_channel(out, in, c, Lookup256(table.value[c]));
      continue;
    }
    const __m256i keep = repeated(change.keep), flip = repeated(change.flip);
    map_channel(out, in, c, [=](__m256i levels) {
      return _mm256_xor_si256(_mm256_and_si256(levels, keep), flip);
    });
  }
}

void find_extremes(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                   const uint8_t* table) {
  const Range range = table == nullptr
                          ? range_of(image, channel, [](__m256i levels) { return levels; })
                          : range_of(image, channel, Lookup256(table));
  alignas(32) uint8_t low[kStep], high[kStep];
  _mm256_store_si256(reinterpret_cast<__m256i*>(low), range.least);
  _mm256_store_si256(reinterpret_cast<__m256i*>(high), range.greatest);
  least = low[0];
  greatest = high[0];
  for (int i = 1; i < kStep; ++i) {
    if (low[i] < least) least = low[i];
    if (high[i] > greatest) greatest = high[i];
  }
}

}  // namespace penstock::avx2
