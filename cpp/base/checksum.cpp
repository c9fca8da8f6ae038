#include "base/checksum.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace penstock {
namespace {

uint32_t by_zlib(uint32_t before, std::span<const uint8_t> bytes) {
  constexpr size_t kMost = std::numeric_limits<uInt>::max();
  uLong crc = before;
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min(bytes.size(), kMost));
    crc = crc32(crc, some.data(), static_cast<uInt>(some.size()));
    bytes = bytes.subspan(some.size());
  }
  return static_cast<uint32_t>(crc);
}

#if defined(__x86_64__)

// Bytes are coefficients of a polynomial over GF(2), of which the checksum is the remainder.
// A lane of 128 bits may be replaced by its product with x^n mod P, n bits further on, without any
// change of that remainder: so four lanes go over 64 bytes at a time, and the 16 bytes that are
// left at the end have the same checksum as all of them (Gopal and others, "Fast CRC computation
// for generic polynomials using PCLMULQDQ", 2009). The constants are x^n mod P, bits reversed.
constexpr long long kFourLanesLow = 0x154442bd4;   // x^(4 * 128 + 32)
constexpr long long kFourLanesHigh = 0x1c6e41596;  // x^(4 * 128 - 32)
constexpr long long kOneLaneLow = 0x1751997d0;     // x^(128 + 32)
constexpr long long kOneLaneHigh = 0x0ccaa009e;    // x^(128 - 32)
constexpr size_t kLane = 16;

__attribute__((target("pclmul,sse4.1"))) __m128i moved(__m128i lane, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(lane, factors, 0x00),
                       _mm_clmulepi64_si128(lane, factors, 0x11));
}

__attribute__((target("pclmul,sse4.1"))) __m128i load(const uint8_t* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

/// Needs at least four lanes.
__attribute__((target("pclmul,sse4.1"))) uint32_t by_products(uint32_t before,
                                                              std::span<const uint8_t> bytes) {
  const uint8_t* place = bytes.data();
  const uint8_t* end = place + bytes.size();
  __m128i lanes[4];
  for (__m128i& lane : lanes) {
    lane = load(place);
    place += kLane;
  }
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(~before)));
  const __m128i four = _mm_set_epi64x(kFourLanesHigh, kFourLanesLow);
  while (static_cast<size_t>(end - place) >= 4 * kLane) {
    for (__m128i& lane : lanes) {
      lane = _mm_xor_si128(moved(lane, four), load(place));
      place += kLane;
    }
  }
  const __m128i one = _mm_set_epi64x(kOneLaneHigh, kOneLaneLow);
  __m128i last = lanes[0];
  for (int i = 1; i < 4; ++i) last = _mm_xor_si128(moved(last, one), lanes[i]);
  for (; static_cast<size_t>(end - place) >= kLane; place += kLane)
    last = _mm_xor_si128(moved(last, one), load(place));
  uint8_t left[kLane];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(left), last);
  // What came before is in the bytes now: zlib begins with nothing, which is all ones there.
  const uint32_t so_far = by_zlib(~uint32_t{0}, left);
  return by_zlib(so_far, {place, end});
}

#endif

}  // namespace

uint32_t checksum(uint32_t before, std::span<const uint8_t> bytes) {
#if defined(__x86_64__)
  static const bool has_products =
      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  if (has_products && bytes.size() >= 4 * kLane && active_isa() != Isa::scalar)
    return by_products(before, bytes);
#endif
  return by_zlib(before, bytes);
}

}  // namespace penstock
