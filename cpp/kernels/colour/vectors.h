// What the vector kernels on colours share: tables of 256 bytes in registers, the first bytes of a
// register, and luma. Internal to the files that include it.
#pragma once

#include "base/x86_vectors.h"
#include "kernels/colour/variants.h"

namespace penstock {
namespace {

#if defined(PENSTOCK_ISA_AVX512)

/// A table of 256 bytes in four registers.
struct Lookup {
  Vector quarter[4];

  explicit Lookup(const uint8_t* table) {
    for (int i = 0; i < 4; ++i) quarter[i] = load(table + 64 * i);
  }

  Vector operator()(Vector levels) const {
    const Vector low = _mm512_permutex2var_epi8(quarter[0], levels, quarter[1]);
    const Vector high = _mm512_permutex2var_epi8(quarter[2], levels, quarter[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(levels), low, high);
  }
};

/// A bit for each byte of a register.
using ByteMask = __mmask64;

/// For the first `count` bytes; all of them if there are more.
inline ByteMask first_bytes(int count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

inline Vector or_zero(ByteMask mask, Vector bytes) { return _mm512_maskz_mov_epi8(mask, bytes); }
inline Vector min_where(ByteMask mask, Vector least, Vector bytes) {
  return _mm512_mask_min_epu8(least, mask, least, bytes);
}
inline Vector max_where(ByteMask mask, Vector greatest, Vector bytes) {
  return _mm512_mask_max_epu8(greatest, mask, greatest, bytes);
}

#else

/// A table of 256 bytes by byte shuffles of 16: rows of 16 entries, each (but the first of either
/// half) xored with the row before. A shuffle gives 0 where the index is negative; so counting a
/// level down by 16 from row to row, and xoring all that comes until it is negative, leaves the
/// entry of the level's own row.
struct Lookup {
  Vector row[16];

  explicit Lookup(const uint8_t* table) {
    Vector before = zero();
    for (int i = 0; i < 16; ++i) {
      const Vector entries = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * i)));
      row[i] = i == 8 ? entries : _mm256_xor_si256(entries, before);
      before = entries;
    }
  }

  Vector operator()(Vector levels) const {
    const Vector sixteen = _mm256_set1_epi8(16);
    Vector low = levels;                                             // negative from 128 on
    Vector high = _mm256_xor_si256(levels, _mm256_set1_epi8(-128));  // negative below 128
    Vector found =
        _mm256_xor_si256(_mm256_shuffle_epi8(row[0], low), _mm256_shuffle_epi8(row[8], high));
    for (int i = 1; i < 8; ++i) {
      low = _mm256_subs_epi8(low, sixteen);
      high = _mm256_subs_epi8(high, sixteen);
      found = _mm256_xor_si256(found, _mm256_shuffle_epi8(row[i], low));
      found = _mm256_xor_si256(found, _mm256_shuffle_epi8(row[8 + i], high));
    }
    return found;
  }
};

/// All bits of a byte, or none.
using ByteMask = Vector;

inline ByteMask first_bytes(int count) {
  const Vector position =
      _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  return _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(count < 32 ? count : 32)), position);
}

inline Vector or_zero(ByteMask mask, Vector bytes) { return _mm256_and_si256(mask, bytes); }
inline Vector min_where(ByteMask mask, Vector least, Vector bytes) {
  const Vector outside = _mm256_xor_si256(mask, _mm256_set1_epi8(-1));
  return _mm256_min_epu8(least, _mm256_or_si256(bytes, outside));
}
inline Vector max_where(ByteMask mask, Vector greatest, Vector bytes) {
  return _mm256_max_epu8(greatest, _mm256_and_si256(bytes, mask));
}

#endif

/// The bytes of a register as words. Unpacking and packing stay within 128 bits both ways, so the
/// order comes out right.
struct WordPair {
  Vector low, high;
};

inline WordPair words_of(Vector bytes) {
  return {MM(unpacklo_epi8)(bytes, zero()), MM(unpackhi_epi8)(bytes, zero())};
}

inline Vector factor_pair(int low, int high) {
  return MM(set1_epi32)((high << 16) | (low & 0xffff));
}

/// From words (red, green) and (blue, 2).
inline Vector luma_less_green(Vector red_green, Vector blue_two) {
  const Vector sum =
      dot_and_add(MM(madd_epi16)(red_green, factor_pair(kLumaRed, kLumaGreenLessOne)), blue_two,
                  factor_pair(kLumaBlue, kLumaHalf / 2));
  return MM(srai_epi32)(sum, 16);
}

inline Vector luma_words(Vector red, Vector green, Vector blue) {
  const Vector two = MM(set1_epi16)(2);
  const Vector low = luma_less_green(MM(unpacklo_epi16)(red, green), MM(unpacklo_epi16)(blue, two));
  const Vector high =
      luma_less_green(MM(unpackhi_epi16)(red, green), MM(unpackhi_epi16)(blue, two));
  return MM(add_epi16)(MM(packs_epi32)(low, high), green);
}

inline WordPair luma(const WordPair& red, const WordPair& green, const WordPair& blue) {
  return {luma_words(red.low, green.low, blue.low), luma_words(red.high, green.high, blue.high)};
}

inline Vector luma(Vector red, Vector green, Vector blue) {
  const WordPair gray = luma(words_of(red), words_of(green), words_of(blue));
  return MM(packus_epi16)(gray.low, gray.high);
}

}  // namespace
}  // namespace penstock
