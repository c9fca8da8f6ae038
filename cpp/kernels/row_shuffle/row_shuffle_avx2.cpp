#include <immintrin.h>

#include <array>
#include <cstring>

#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock::avx2 {
namespace {

constexpr int kStep = 16;

// order[to][from]: which bytes of vector `from` go where in vector `to`; others become zero.
using Orders = std::array<std::array<std::array<uint8_t, kStep>, 3>, 3>;

constexpr Orders kNothing = [] {
  Orders orders{};
  for (auto& to : orders)
    for (auto& from : to) from.fill(0x80);
  return orders;
}();

constexpr Orders kInterleave = [] {
  Orders orders = kNothing;
  for (int i = 0; i < 3 * kStep; ++i)
    orders[i / kStep][i % 3][i % kStep] = static_cast<uint8_t>(i / 3);
  return orders;
}();

constexpr Orders kDeinterleave = [] {
  Orders orders = kNothing;
  for (int i = 0; i < 3 * kStep; ++i)
    orders[i % 3][i / kStep][i / 3] = static_cast<uint8_t>(i % kStep);
  return orders;
}();

__m128i load(const uint8_t* address) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(address));
}
void store(uint8_t* address, __m128i value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(address), value);
}

__m128i merge(const Orders::value_type& order, __m128i first, __m128i second, __m128i third) {
  return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(first, load(order[0].data())),
                                   _mm_shuffle_epi8(second, load(order[1].data()))),
                      _mm_shuffle_epi8(third, load(order[2].data())));
}

void interleave(uint8_t* rgb, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                int width) {
  for (int x = 0; x < width; x += kStep) {
    const __m128i r = load(red + x), g = load(green + x), b = load(blue + x);
    for (int part = 0; part < 3; ++part, rgb += kStep)
      store(rgb, merge(kInterleave[part], r, g, b));
  }
}

void deinterleave(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgb, int width) {
  const int whole = width / kStep * kStep;
  uint8_t* const planes[3] = {red, green, blue};
  const auto split = [&](int x) {
    const uint8_t* from = rgb + 3 * ptrdiff_t{x};
    const __m128i first = load(from), second = load(from + kStep), third = load(from + 2 * kStep);
    for (int c = 0; c < 3; ++c) store(planes[c] + x, merge(kDeinterleave[c], first, second, third));
  };
  for (int x = 0; x < whole; x += kStep) split(x);
  if (width == whole) return;
  if (whole > 0)
    split(width - kStep);  // some pixels twice
  else
    scalar::row_shuffle.deinterleave(red, green, blue, rgb, width);
}

void mirror(uint8_t* target, const uint8_t* source, int width) {
  const __m128i backwards = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  int left = width;
  for (; left >= kStep; left -= kStep, target += kStep)
    store(target, _mm_shuffle_epi8(load(source + left - kStep), backwards));
  scalar::row_shuffle.mirror(target, source, left);
}

void interleave_rgbx(uint8_t* rgbx, const uint8_t* red, const uint8_t* green, const uint8_t* blue,
                     int width) {
  const __m128i opaque = _mm_set1_epi8(static_cast<char>(255));
  const int whole = width / kStep * kStep;
  for (int x = 0; x < whole; x += kStep, rgbx += 4 * kStep) {
    const __m128i r = load(red + x), g = load(green + x), b = load(blue + x);
    const __m128i rg[2] = {_mm_unpacklo_epi8(r, g), _mm_unpackhi_epi8(r, g)};
    const __m128i bx[2] = {_mm_unpacklo_epi8(b, opaque), _mm_unpackhi_epi8(b, opaque)};
    for (int half = 0; half < 2; ++half) {
      store(rgbx + 2 * half * kStep, _mm_unpacklo_epi16(rg[half], bx[half]));
      store(rgbx + (2 * half + 1) * kStep, _mm_unpackhi_epi16(rg[half], bx[half]));
    }
  }
  scalar::row_shuffle.interleave_rgbx(rgbx, red + whole, green + whole, blue + whole,
                                      width - whole);
}

void deinterleave_rgbx(uint8_t* red, uint8_t* green, uint8_t* blue, const uint8_t* rgbx,
                       int width) {
  // Four pixels: their reds, greens, blues and the rest, four bytes each.
  const __m128i apart = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const int whole = width / kStep * kStep;
  for (int x = 0; x < whole; x += kStep, rgbx += 4 * kStep) {
    __m128i four[4];
    for (int i = 0; i < 4; ++i) four[i] = _mm_shuffle_epi8(load(rgbx + i * kStep), apart);
    const __m128i rg_low = _mm_unpacklo_epi32(four[0], four[1]);
    const __m128i rg_high = _mm_unpacklo_epi32(four[2], four[3]);
    const __m128i bx_low = _mm_unpackhi_epi32(four[0], four[1]);
    const __m128i bx_high = _mm_unpackhi_epi32(four[2], four[3]);
    store(red + x, _mm_unpacklo_epi64(rg_low, rg_high));
    store(green + x, _mm_unpackhi_epi64(rg_low, rg_high));
    store(blue + x, _mm_unpacklo_epi64(bx_low, bx_high));
  }
  scalar::row_shuffle.deinterleave_rgbx(red + whole, green + whole, blue + whole, rgbx,
                                        width - whole);
}

__m256i load_twice(const uint8_t* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

void copy(uint8_t* target, const uint8_t* source, size_t bytes) {
  constexpr size_t kTwice = 2 * kStep;
  size_t i = 0;
  for (; i + kTwice <= bytes; i += kTwice)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + i), load_twice(source + i));
  if (i < bytes) std::memcpy(target + i, source + i, bytes - i);
}

void stream(uint8_t* target, const uint8_t* source, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 2 * kStep)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + i), load_twice(source + i));
}

}  // namespace

const RowShuffle row_shuffle{
    interleave, deinterleave, mirror, interleave_rgbx, deinterleave_rgbx, scalar::row_shuffle.shift,
    copy,       stream};

}  // namespace penstock::avx2
