#include <immintrin.h>

#include "kernels/colour/lookup_avx512.h"
#include "kernels/colour/variants.h"

namespace penstock::avx512 {
namespace {

constexpr int kStep = 64;

struct Range {
  __m512i least = _mm512_set1_epi8(-1);
  __m512i greatest = _mm512_setzero_si512();
};

template <class Map>
Range range_of(const PlanarView& image, int channel, Map map) {
  Range range;
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(channel, y);
    for (int x = 0; x < image.width; x += kStep) {
      const __m512i levels = map(_mm512_loadu_si512(row + x));
      const __mmask64 inside = first_bytes(image.width - x);
      range.least = _mm512_mask_min_epu8(range.least, inside, range.least, levels);
      range.greatest = _mm512_mask_max_epu8(range.greatest, inside, range.greatest, levels);
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
      _mm512_storeu_si512(row + x, map(_mm512_loadu_si512(levels + x)));
  }
}

__m512i repeated(uint8_t level) { return _mm512_set1_epi8(static_cast<char>(level)); }

}  // namespace

void apply_lut(const PlanarTarget& out, const PlanarView& in, const Lut& table) {
  for (int c = 0; c < in.channels; ++c) {
    BitChange change;
    if (!is_bit_change(change, table.value[c])) {
      map_channel(out, in, c, Lookup512(table.value[c]));
      continue;
    }
    const __m512i keep = repeated(change.keep), flip = repeated(change.flip);
    map_channel(out, in, c, [=](__m512i levels) {
      return _mm512_xor_si512(_mm512_and_si512(levels, keep), flip);
    });
  }
}

void find_extremes(uint8_t& least, uint8_t& greatest, const PlanarView& image, int channel,
                   const uint8_t* table) {
  const Range range = table == nullptr
                          ? range_of(image, channel, [](__m512i levels) { return levels; })
                          : range_of(image, channel, Lookup512(table));
  alignas(64) uint8_t low[kStep], high[kStep];
  _mm512_store_si512(low, range.least);
  _mm512_store_si512(high, range.greatest);
  least = low[0];
  greatest = high[0];
  for (int i = 1; i < kStep; ++i) {
    if (low[i] < least) least = low[i];
    if (high[i] > greatest) greatest = high[i];
  }
}

}  // namespace penstock::avx512
