#include <cstring>

#if defined(__SSSE3__)
#include <immintrin.h>
#endif

#include "kernels/elements.h"

namespace penstock::PENSTOCK_ISA {
namespace {

/// The compiler makes one or two permutations of whole vectors of this.
template <class T, size_t kCount>
inline void mirror_block(uint8_t* target, const uint8_t* source) {
  T in[kCount], out[kCount];
  std::memcpy(in, source, sizeof in);
  for (size_t i = 0; i < kCount; ++i) out[i] = in[kCount - 1 - i];
  std::memcpy(target, out, sizeof out);
}

template <class T>
void mirror_as(uint8_t* target, const uint8_t* source, size_t count) {
  constexpr size_t kBlock = 64 / sizeof(T);
  constexpr size_t kSize = sizeof(T);
  size_t done = 0;
  for (; done + kBlock <= count; done += kBlock)
    mirror_block<T, kBlock>(target + done * kSize, source + (count - done - kBlock) * kSize);
  if (done < count && count >= kBlock) {  // the last block again writes some that are there
    mirror_block<T, kBlock>(target + (count - kBlock) * kSize, source);
    return;
  }
  for (; done < count; ++done)
    mirror_block<T, 1>(target + done * kSize, source + (count - 1 - done) * kSize);
}

/// Pixels of three bytes, five at a time where the set can shuffle bytes.
void mirror_threes(uint8_t* target, const uint8_t* source, size_t count) {
  size_t done = 0;
#if defined(__SSSE3__)
  // Sixteen bytes are read from one before the five pixels, and one is written behind them: what
  // follows overwrites it.
  const __m128i order = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
  for (; done + 6 <= count; done += 5) {
    const auto* five = reinterpret_cast<const __m128i*>(source + (count - done - 5) * 3 - 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + done * 3),
                     _mm_shuffle_epi8(_mm_loadu_si128(five), order));
  }
#endif
  for (; done < count; ++done) std::memcpy(target + done * 3, source + (count - 1 - done) * 3, 3);
}

}  // namespace

void mirror_elements(uint8_t* target, const uint8_t* source, size_t count, int bytes) {
  switch (bytes) {
    case 1:
      return mirror_as<uint8_t>(target, source, count);
    case 2:
      return mirror_as<uint16_t>(target, source, count);
    case 3:
      return mirror_threes(target, source, count);
    case 4:
      return mirror_as<uint32_t>(target, source, count);
    case 8:
      return mirror_as<uint64_t>(target, source, count);
    default:
      for (size_t i = 0; i < count; ++i)
        std::memcpy(target + i * bytes, source + (count - 1 - i) * bytes,
                    static_cast<size_t>(bytes));
  }
}

}  // namespace penstock::PENSTOCK_ISA
