// The final pass computed, for floating-point elements.
#include "base/x86_vectors.h"
#include "kernels/colour/vectors.h"
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

Floats normalise(Floats x, const Constants& k) {
  const Floats t = MM(fmadd_ps)(x, k.scale_high, MM(mul_ps)(x, k.scale_low));
  const Floats s = MM(sub_ps)(t, k.mean);
  return MM(fmadd_ps)(s, k.std_high, MM(mul_ps)(s, k.std_low));
}

struct ToFloat32 {
  using Stored = float;
  static void put(float* target, Floats v) { MM(storeu_ps)(target, v); }
  static void stream(float* target, Floats v) { MM(stream_ps)(target, v); }
  /// The first `count` values, fewer than a vector has.
  static void put_some(float* target, Floats v, int count) {
#if defined(PENSTOCK_ISA_AVX512)
    _mm512_mask_storeu_ps(target, static_cast<__mmask16>((1 << count) - 1), v);
#else
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_maskstore_ps(target, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), place), v);
#endif
  }
};

template <class Narrow>
struct ToSixteenBits {
  using Stored = uint16_t;
  static void put(uint16_t* target, Floats v) { store_half(target, Narrow::narrow(v)); }
  static void stream(uint16_t* target, Floats v) { stream_half(target, Narrow::narrow(v)); }
  static void put_some(uint16_t* target, Floats v, int count) {
#if defined(PENSTOCK_ISA_AVX512)
    _mm256_mask_storeu_epi16(target, static_cast<__mmask16>((1 << count) - 1), Narrow::narrow(v));
#else
    __m128i rest = Narrow::narrow(v);
    if ((count & 4) != 0) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(target), rest);
      rest = _mm_unpackhi_epi64(rest, rest);
      target += 4;
    }
    if ((count & 2) != 0) {
      _mm_storeu_si32(target, rest);
      rest = _mm_srli_epi64(rest, 32);
      target += 2;
    }
    if ((count & 1) != 0) _mm_storeu_si16(target, rest);
#endif
  }
};

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
    const Floats values = normalise(load_levels(source + i), pattern.vector[v]);
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
  if (i != count)
    To::put_some(target + i, normalise(load_levels(source + i), pattern.vector[v]), count - i);
}

/// A quarter of the bytes of a register.
template <int kQuarter>
Floats levels_of(Vector bytes) {
#if defined(PENSTOCK_ISA_AVX512)
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, kQuarter)));
#else
  const __m128i half = _mm256_extracti128_si256(bytes, kQuarter / 2);
  const __m128i quarter = kQuarter % 2 == 0 ? half : _mm_unpackhi_epi64(half, half);
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(quarter));
#endif
}

/// A register of bytes, read as two. A row that was stored only just now, in whole registers, can
/// be read at once only in pieces that lie in one of these, which may begin half a register off.
Vector load_halves(const uint8_t* bytes) {
#if defined(PENSTOCK_ISA_AVX512)
  return _mm512_inserti64x4(_mm512_castsi256_si512(load_half(bytes)),
                            load_half(bytes + kVectorBytes / 2), 1);
#else
  return load(bytes);
#endif
}

/// The same for one channel, after a table.
template <class To, bool kPastCache, class Map>
void convert_mapped_to(typename To::Stored* target, const uint8_t* source, int count,
                       const Pattern<1>& pattern, const Map& levels) {
  const auto put = [&](int i, Floats x) {
    const Floats values = normalise(x, pattern.vector[0]);
    if constexpr (kPastCache)
      To::stream(target + i, values);
    else
      To::put(target + i, values);
  };
  int i = 0;
  for (; i + kVectorBytes <= count; i += kVectorBytes) {
    const Vector bytes = levels(load_halves(source + i));
    put(i, levels_of<0>(bytes));
    put(i + kVectorFloats, levels_of<1>(bytes));
    put(i + 2 * kVectorFloats, levels_of<2>(bytes));
    put(i + 3 * kVectorFloats, levels_of<3>(bytes));
  }
  if (i == count) return;
  alignas(64) uint8_t rest[kVectorBytes];
  store(rest, levels(load_halves(source + i)));
  const uint8_t* next = rest;
  for (; i + kVectorFloats <= count; i += kVectorFloats, next += kVectorFloats)
    put(i, load_levels(next));
  if (i != count)
    To::put_some(target + i, normalise(load_levels(next), pattern.vector[0]), count - i);
}

template <class To, int kPeriod, bool kPastCache>
void convert_rows(const RowsToConvert& rows, const Pattern<kPeriod>& pattern) {
  auto* target = static_cast<uint8_t*>(rows.target);
  const uint8_t* source = rows.source;
  for (int y = 0; y < rows.rows; ++y, target += rows.target_stride, source += rows.source_stride)
    convert_to<To, kPeriod, kPastCache>(reinterpret_cast<typename To::Stored*>(target), source,
                                        rows.count, pattern);
}

template <class To, int kPeriod>
void convert_pattern(const RowsToConvert& rows, const FinalPass& pass, int channel,
                     bool past_cache) {
  const Pattern<kPeriod> pattern(pass, channel);
  if (past_cache)
    convert_rows<To, kPeriod, true>(rows, pattern);
  else
    convert_rows<To, kPeriod, false>(rows, pattern);
}

/// What rows.change does to all bytes of a register.
struct Bits {
  Vector keep, flip;

  explicit Bits(const RowsToConvert& rows)
      : keep(MM(set1_epi8)(static_cast<char>(rows.change->keep))),
        flip(MM(set1_epi8)(static_cast<char>(rows.change->flip))) {}

  Vector operator()(Vector levels) const { return MM_SI(xor)(MM_SI (and)(levels, keep), flip); }
};

/// What rows.levels does to them.
struct Table {
  Lookup lookup;

  explicit Table(const RowsToConvert& rows) : lookup(rows.levels) {}

  Vector operator()(Vector levels) const { return lookup(levels); }
};

/// Apart, so that calls without a table do not pay for its registers.
template <class To, class Map>
[[gnu::noinline]] void convert_mapped(const RowsToConvert& rows, const FinalPass& pass, int channel,
                                      bool past_cache) {
  const Pattern<1> pattern(pass, channel);
  const Map levels(rows);
  for (int y = 0; y < rows.rows; ++y) {
    uint8_t* const row = static_cast<uint8_t*>(rows.target) + y * rows.target_stride;
    auto* const target = reinterpret_cast<typename To::Stored*>(row);
    const uint8_t* const source = rows.source + y * rows.source_stride;
    if (past_cache)
      convert_mapped_to<To, true>(target, source, rows.count, pattern, levels);
    else
      convert_mapped_to<To, false>(target, source, rows.count, pattern, levels);
  }
}

template <class To>
void convert(const RowsToConvert& rows, const FinalPass& pass, int channel, bool past_cache) {
  if (rows.change != nullptr)
    convert_mapped<To, Bits>(rows, pass, channel, past_cache);
  else if (rows.levels != nullptr)
    convert_mapped<To, Table>(rows, pass, channel, past_cache);
  else if (channel == kInterleaved)
    convert_pattern<To, 3>(rows, pass, channel, past_cache);
  else
    convert_pattern<To, 1>(rows, pass, channel, past_cache);
}

}  // namespace

ConvertRows converter_for(Element element) {
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
