#include <immintrin.h>

#include <cstring>

#include "kernels/final_pass/convert.h"

namespace penstock::avx2 {
namespace {

constexpr int kLanes = 8;

struct Constants {
  __m256 scale_high, scale_low, mean, std_high, std_low;
};

// One vector of constants for a row of one channel; three, for the 24 elements after which the
// pattern repeats, for interleaved pixels.
template <int kPeriod>
struct Pattern {
  Pattern(const FinalPass& pass, int channel) {
    const auto load = [channel](const float* lanes, int v) {
      return kPeriod == 1 ? _mm256_set1_ps(lanes[channel]) : _mm256_load_ps(lanes + v * kLanes);
    };
    for (int v = 0; v < kPeriod; ++v)
      vector[v] = {load(pass.scale_high, v), load(pass.scale_low, v), load(pass.mean, v),
                   load(pass.std_high, v), load(pass.std_low, v)};
  }
  Constants vector[kPeriod];
};

__m256 normalise(const uint8_t* source, const Constants& k) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source));
  const __m256 x = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
  const __m256 t = _mm256_fmadd_ps(x, k.scale_high, _mm256_mul_ps(x, k.scale_low));
  const __m256 s = _mm256_sub_ps(t, k.mean);
  return _mm256_fmadd_ps(s, k.std_high, _mm256_mul_ps(s, k.std_low));
}

struct ToFloat32 {
  using Stored = float;
  static void put(float* target, __m256 v) { _mm256_storeu_ps(target, v); }
  static void stream(float* target, __m256 v) { _mm256_stream_ps(target, v); }
};

template <class Narrow>
struct ToSixteenBits {
  using Stored = uint16_t;
  static void put(uint16_t* target, __m256 v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target), Narrow::narrow(v));
  }
  static void stream(uint16_t* target, __m256 v) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(target), Narrow::narrow(v));
  }
};

struct NarrowToFloat16 {
  static __m128i narrow(__m256 v) {
    return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
};

struct NarrowToBfloat16 {
  // To the nearest, ties to even; a computable pass has no NaN.
  static __m128i narrow(__m256 v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
  }
};

template <class To, int kPeriod, bool kPastCache>
void convert_to(typename To::Stored* target, const uint8_t* source, int count,
                const Pattern<kPeriod>& pattern) {
  const auto put = [&](int i, int v) {
    const __m256 values = normalise(source + i, pattern.vector[v]);
    if constexpr (kPastCache)
      To::stream(target + i, values);
    else
      To::put(target + i, values);
  };
  int i = 0;
  for (; i + kPeriod * kLanes <= count; i += kPeriod * kLanes)
    for (int v = 0; v < kPeriod; ++v) put(i + v * kLanes, v);
  int v = 0;
  for (; i + kLanes <= count; i += kLanes) put(i, v++);
  if (i == count) return;
  typename To::Stored rest[kLanes];
  To::put(rest, normalise(source + i, pattern.vector[v]));
  std::memcpy(target + i, rest, (count - i) * sizeof(rest[0]));
}

template <class To, int kPeriod>
void convert_pattern(void* target, const uint8_t* source, int count, const FinalPass& pass,
                     int channel, bool past_cache) {
  auto* stored = static_cast<typename To::Stored*>(target);
  const Pattern<kPeriod> pattern(pass, channel);
  if (past_cache)
    convert_to<To, kPeriod, true>(stored, source, count, pattern);
  else
    convert_to<To, kPeriod, false>(stored, source, count, pattern);
}

template <class To>
void convert(void* target, const uint8_t* source, int count, const FinalPass& pass, int channel,
             bool past_cache) {
  if (channel == kInterleaved)
    convert_pattern<To, 3>(target, source, count, pass, channel, past_cache);
  else
    convert_pattern<To, 1>(target, source, count, pass, channel, past_cache);
}

}  // namespace

ConvertRow converter_for(Element element) {
  switch (element) {
    case Element::float16:
      return convert<ToSixteenBits<NarrowToFloat16>>;
    case Element::bfloat16:
      return convert<ToSixteenBits<NarrowToBfloat16>>;
    case Element::float32:
    case Element::uint8:
      break;
  }
  return convert<ToFloat32>;
}

}  // namespace penstock::avx2
