#include <immintrin.h>

#include "kernels/final_pass/convert.h"

namespace penstock::avx512 {
namespace {

constexpr int kLanes = 16;

struct Constants {
  __m512 scale_high, scale_low, mean, std_high, std_low;
};

// One vector of constants for a row of one channel; three, for the 48 elements after which the
// pattern repeats, for interleaved pixels.
template <int kPeriod>
struct Pattern {
  Pattern(const FinalPass& pass, int channel) {
    const auto load = [channel](const float* lanes, int v) {
      return kPeriod == 1 ? _mm512_set1_ps(lanes[channel]) : _mm512_load_ps(lanes + v * kLanes);
    };
    for (int v = 0; v < kPeriod; ++v)
      vector[v] = {load(pass.scale_high, v), load(pass.scale_low, v), load(pass.mean, v),
                   load(pass.std_high, v), load(pass.std_low, v)};
  }
  Constants vector[kPeriod];
};

__m512 normalise(const uint8_t* source, const Constants& k) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source));
  const __m512 x = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
  const __m512 t = _mm512_fmadd_ps(x, k.scale_high, _mm512_mul_ps(x, k.scale_low));
  const __m512 s = _mm512_sub_ps(t, k.mean);
  return _mm512_fmadd_ps(s, k.std_high, _mm512_mul_ps(s, k.std_low));
}

struct ToFloat32 {
  using Stored = float;
  static void put(float* target, __m512 v) { _mm512_storeu_ps(target, v); }
  static void stream(float* target, __m512 v) { _mm512_stream_ps(target, v); }
  static void put_some(float* target, __m512 v, __mmask16 some) {
    _mm512_mask_storeu_ps(target, some, v);
  }
};

template <class Narrow>
struct ToSixteenBits {
  using Stored = uint16_t;
  static void put(uint16_t* target, __m512 v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), Narrow::narrow(v));
  }
  static void stream(uint16_t* target, __m512 v) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target), Narrow::narrow(v));
  }
  static void put_some(uint16_t* target, __m512 v, __mmask16 some) {
    _mm256_mask_storeu_epi16(target, some, Narrow::narrow(v));
  }
};

struct NarrowToFloat16 {
  static __m256i narrow(__m512 v) {
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
};

struct NarrowToBfloat16 {
  // To the nearest, ties to even; a computable pass has no NaN.
  static __m256i narrow(__m512 v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
  }
};

template <class To, int kPeriod, bool kPastCache>
void convert_to(typename To::Stored* target, const uint8_t* source, int count,
                const Pattern<kPeriod>& pattern) {
  const auto put = [&](int i, int v) {
    const __m512 values = normalise(source + i, pattern.vector[v]);
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
  const auto rest = static_cast<__mmask16>((1 << (count - i)) - 1);
  if (rest != 0) To::put_some(target + i, normalise(source + i, pattern.vector[v]), rest);
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

}  // namespace penstock::avx512
