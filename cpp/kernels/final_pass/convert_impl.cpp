// The final pass computed, for floating-point elements.
#include <cstring>

#include "base/x86_vectors.h"
#include "kernels/final_pass/convert.h"

namespace penstock::PENSTOCK_ISA {
namespace {

struct Constants {
  Floats scale_high, scale_low, mean, std_high, std_low;
};

// One vector of constants for a row of one channel; three, after which the pattern repeats, for
// interleaved pixels.
template <int kPeriod>
struct Pattern {
  Pattern(const FinalPass& pass, int channel) {
    const auto load = [channel](const float* lanes, int v) {
      return kPeriod == 1 ? MM(set1_ps)(lanes[channel]) : MM(load_ps)(lanes + v * kVectorFloats);
    };
    for (int v = 0; v < kPeriod; ++v)
      vector[v] = {load(pass.scale_high, v), load(pass.scale_low, v), load(pass.mean, v),
                   load(pass.std_high, v), load(pass.std_low, v)};
  }
  Constants vector[kPeriod];
};

Floats normalise(const uint8_t* source, const Constants& k) {
  const Floats x = load_levels(source);
  const Floats t = MM(fmadd_ps)(x, k.scale_high, MM(mul_ps)(x, k.scale_low));
  const Floats s = MM(sub_ps)(t, k.mean);
  return MM(fmadd_ps)(s, k.std_high, MM(mul_ps)(s, k.std_low));
}

struct ToFloat32 {
  using Stored = float;
  static void put(float* target, Floats v) { MM(storeu_ps)(target, v); }
  static void stream(float* target, Floats v) { MM(stream_ps)(target, v); }
#if defined(PENSTOCK_ISA_AVX512)
  static void put_some(float* target, Floats v, __mmask16 some) {
    _mm512_mask_storeu_ps(target, some, v);
  }
#endif
};

template <class Narrow>
struct ToSixteenBits {
  using Stored = uint16_t;
  static void put(uint16_t* target, Floats v) { store_half(target, Narrow::narrow(v)); }
  static void stream(uint16_t* target, Floats v) { stream_half(target, Narrow::narrow(v)); }
#if defined(PENSTOCK_ISA_AVX512)
  static void put_some(uint16_t* target, Floats v, __mmask16 some) {
    _mm256_mask_storeu_epi16(target, some, Narrow::narrow(v));
  }
#endif
};

/// The first `count` values, fewer than a vector has.
template <class To>
void put_some(typename To::Stored* target, Floats v, int count) {
#if defined(PENSTOCK_ISA_AVX512)
  To::put_some(target, v, static_cast<__mmask16>((1 << count) - 1));
#else
  typename To::Stored rest[kVectorFloats];
  To::put(rest, v);
  std::memcpy(target, rest, count * sizeof(rest[0]));
#endif
}

struct NarrowToFloat16 {
  static HalfVector narrow(Floats v) {
    return MM(cvtps_ph)(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
};

struct NarrowToBfloat16 {
  // To the nearest, ties to even; a computable pass has no NaN.
  static HalfVector narrow(Floats v) {
    const Vector bits = as_integers(v);
    const Vector odd = MM_SI (and)(MM(srli_epi32)(bits, 16), MM(set1_epi32)(1));
    const Vector rounded =
        MM(srli_epi32)(MM(add_epi32)(bits, MM(add_epi32)(odd, MM(set1_epi32)(0x7FFF))), 16);
    return narrow_to_words(rounded);
  }
};

template <class To, int kPeriod, bool kPastCache>
void convert_to(typename To::Stored* target, const uint8_t* source, int count,
                const Pattern<kPeriod>& pattern) {
  const auto put = [&](int i, int v) {
    const Floats values = normalise(source + i, pattern.vector[v]);
    if constexpr (kPastCache)
      To::stream(target + i, values);
    else
      To::put(target + i, values);
  };
  int i = 0;
  for (; i + kPeriod * kVectorFloats <= count; i += kPeriod * kVectorFloats)
    for (int v = 0; v < kPeriod; ++v) put(i + v * kVectorFloats, v);
  int v = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) put(i, v++);
  if (i != count) put_some<To>(target + i, normalise(source + i, pattern.vector[v]), count - i);
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

}  // namespace penstock::PENSTOCK_ISA
