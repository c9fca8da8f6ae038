#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "base/image.h"
#include "kernels/resample/avx512.h"

namespace penstock::avx512 {
namespace {

constexpr int kFourQuads = kQuad * kQuad;  // coefficients in a vector

// The digits of four quads, 16 bytes each.
void store_digits(uint8_t* target, ptrdiff_t digit_stride, __m512i coefficients) {
  const __m512i carry = _mm512_set1_epi32(128);
  for (int d = 0; d < kDigits; ++d) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + d * digit_stride),
                     _mm512_cvtepi32_epi8(coefficients));
    coefficients = _mm512_srai_epi32(_mm512_add_epi32(coefficients, carry), 8);
  }
}

// One quad of outputs x ... x + 3; outputs past the end have no coefficients.
__m512i load_four_outputs(const Taps& taps, int x, int quad) {
  alignas(64) int32_t quads[kFourQuads] = {};
  for (int i = 0; i < kQuad && x + i < taps.count; ++i)
    std::memcpy(quads + i * kQuad,
                taps.coefficient + static_cast<size_t>(x + i) * taps.stride + quad * kQuad,
                kQuad * sizeof(int32_t));
  return _mm512_load_si512(quads);
}

constexpr int bytes_of(int fetch) { return fetch == from_64 ? 64 : fetch == from_128 ? 128 : 256; }

struct Reach {
  int lowest;
  int highest;
};

Reach reach_of(const Taps& taps, int x) {
  const int end = std::min(x + kLanes, taps.count);
  // Starts only grow, or only shrink if mirrored.
  const auto [lowest, highest] = std::minmax(taps.start[x], taps.start[end - 1]);
  return {lowest, highest};
}

// The first byte to load so that `fetch` finds every lane's samples without reading more than
// kRowSlack bytes past the row, or -1 if there is none.
int base_for(const Taps& taps, const Reach& reach, int fetch) {
  const int width = taps.span.end - taps.span.begin;
  const int last_quad = (taps.max_quads - 1) * kQuad;
  const int base = std::min(reach.lowest, width + kRowSlack - bytes_of(fetch) - last_quad);
  return base >= 0 && reach.highest + kQuad - base <= bytes_of(fetch) ? base : -1;
}

int fetch_for(const Taps& taps) {
  int fetch = from_64;
  for (int x = 0; x < taps.count && fetch != gathered; x += kLanes)
    while (fetch != gathered && base_for(taps, reach_of(taps, x), fetch) < 0) ++fetch;
  // A wider fetch may read too far where a narrower one did not.
  for (int x = 0; x < taps.count && fetch != gathered; x += kLanes)
    if (base_for(taps, reach_of(taps, x), fetch) < 0) fetch = gathered;
  return fetch;
}

}  // namespace

void prepare_columns(ColumnTable& table, const Taps& taps) {
  table.taps = taps;
  table.fetch = fetch_for(taps);
  const int vectors = (taps.count + kLanes - 1) / kLanes;
  int32_t* bases = table.bases.reserve<int32_t>(vectors);
  uint8_t* index = table.indices.reserve(static_cast<size_t>(vectors) * kVectorBytes);
  uint8_t* factor =
      table.factors.reserve(static_cast<size_t>(vectors) * taps.max_quads * kDigits * kVectorBytes);
  for (int x = 0; x < taps.count; x += kLanes, index += kVectorBytes) {
    const int base = table.fetch == gathered ? 0 : base_for(taps, reach_of(taps, x), table.fetch);
    *bases++ = base;
    alignas(64) int32_t offsets[kLanes] = {};
    for (int i = 0; i < kLanes && x + i < taps.count; ++i) offsets[i] = taps.start[x + i] - base;
    const __m512i offset = _mm512_load_si512(offsets);
    const __m512i bytes = _mm512_add_epi8(_mm512_mullo_epi32(offset, _mm512_set1_epi32(0x01010101)),
                                          _mm512_set1_epi32(0x03020100));
    _mm512_store_si512(index, table.fetch == gathered ? offset : bytes);
    for (int q = 0; q < taps.max_quads; ++q, factor += kDigits * kVectorBytes)
      for (int i = 0; i < kLanes; i += kQuad)
        store_digits(factor + i * kQuad, kVectorBytes, load_four_outputs(taps, x + i, q));
  }
}

void prepare_rows(RowTable& table, const Taps& taps) {
  table.taps = taps;
  const size_t coefficients = static_cast<size_t>(taps.count) * taps.stride;
  const size_t vectors = (coefficients + kFourQuads - 1) / kFourQuads;
  uint8_t* factor = table.factors.reserve(vectors * kFourQuads * kDigits);
  for (size_t v = 0; v < vectors; ++v, factor += kFourQuads * kDigits)
    store_digits(factor, kFourQuads, _mm512_loadu_si512(taps.coefficient + v * kFourQuads));
}

}  // namespace penstock::avx512
