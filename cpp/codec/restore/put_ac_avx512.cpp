// All coefficients of a block at once, and the bits of four codes at a time.
#include <immintrin.h>

#include <array>

#include "codec/restore/put_ac_one_by_one.h"

namespace penstock::avx512 {
namespace {

using V = __m512i;
using Bytes = std::array<uint8_t, 64>;

/// Values of more bits are rare, and do not fit in a byte.
constexpr int kMostBits = 7;

/// Where the low byte of each zigzag position lies in a block.
alignas(64) constexpr Bytes kLowBytes = [] {
  Bytes bytes{};
  for (int k = 0; k < 64; ++k) bytes[k] = static_cast<uint8_t>(2 * kNaturalOrder[k]);
  return bytes;
}();

alignas(64) constexpr Bytes kPositions = [] {
  Bytes bytes{};
  for (int k = 0; k < 64; ++k) bytes[k] = static_cast<uint8_t>(k);
  return bytes;
}();

/// The byte before each byte.
alignas(64) constexpr Bytes kBefore = [] {
  Bytes bytes{};
  for (int k = 1; k < 64; ++k) bytes[k] = static_cast<uint8_t>(k - 1);
  return bytes;
}();

/// Bit lengths of 0 to 127.
alignas(64) constexpr std::array<uint8_t, 128> kBitLengths = [] {
  std::array<uint8_t, 128> lengths{};
  for (int i = 1; i < 128; ++i) lengths[i] = static_cast<uint8_t>(lengths[i / 2] + 1);
  return lengths;
}();

/// Looks up bytes in a table of 256, and leaves zeros where nothing is `used`.
[[gnu::always_inline]] inline V look_up(const uint8_t* table, V index, __mmask64 used) {
  const __mmask64 upper = _mm512_movepi8_mask(index);
  const V below =
      _mm512_permutex2var_epi8(_mm512_load_si512(table), index, _mm512_load_si512(table + 64));
  const V above = _mm512_permutex2var_epi8(_mm512_load_si512(table + 128), index,
                                           _mm512_load_si512(table + 192));
  return _mm512_maskz_mov_epi8(used, _mm512_mask_mov_epi8(below, upper, above));
}

/// Whether an AC coefficient needs more than kMostBits bits.
[[gnu::always_inline]] inline bool has_long_values(V top, V bottom) {
  const V most = _mm512_set1_epi16((1 << kMostBits) - 1);
  constexpr __mmask32 kAllButDc = ~__mmask32{1};
  return (_mm512_mask_cmpgt_epu16_mask(kAllButDc, _mm512_abs_epi16(top), most) |
          _mm512_cmpgt_epu16_mask(_mm512_abs_epi16(bottom), most)) != 0;
}

/// Whether more than 15 zeros lie between two positions, or before the first.
[[gnu::always_inline]] inline bool has_long_run(uint64_t mask) {
  uint64_t near = mask | 1;  // what lies at most 15 behind a position
  near |= near << 1;
  near |= near << 2;
  near |= near << 4;
  near |= near << 8;
  const uint64_t up_to_last = ~uint64_t{0} >> __builtin_clzll(mask | 1);
  return (~near & up_to_last) != 0;
}

}  // namespace

bool put_ac(EntropyWriter& target, const AcCodes& codes, const int16_t* block) {
  const V top = _mm512_loadu_si512(block);
  const V bottom = _mm512_loadu_si512(block + 32);
  const V low = _mm512_permutex2var_epi8(top, _mm512_load_si512(kLowBytes.data()), bottom);
  const uint64_t mask = _mm512_test_epi8_mask(low, low) & ~uint64_t{1};
  const int count = static_cast<int>(_mm_popcnt_u64(mask));
  const auto one_by_one = [&] {
    uint64_t all;  // `mask` lacks multiples of 256
    avx512::zigzag_masks(&all, block, 1);
    bool all_have_codes;
    target = put_one_by_one(target, all_have_codes, codes.codes, block, all & ~uint64_t{1});
    return all_have_codes;
  };
  if (has_long_values(top, bottom) || has_long_run(mask)) [[unlikely]]
    return one_by_one();

  // One byte for each value: its position, the zeros before it, its bits.
  const __mmask64 used = _bzhi_u64(~uint64_t{0}, count);
  const V value = _mm512_maskz_compress_epi8(mask, low);
  const V position = _mm512_maskz_compress_epi8(mask, _mm512_load_si512(kPositions.data()));
  const V before =
      _mm512_maskz_permutexvar_epi8(~__mmask64{1}, _mm512_load_si512(kBefore.data()), position);
  const V run = _mm512_maskz_sub_epi8(used, _mm512_sub_epi8(position, before), _mm512_set1_epi8(1));
  const V length =
      _mm512_permutex2var_epi8(_mm512_load_si512(kBitLengths.data()), _mm512_abs_epi8(value),
                               _mm512_load_si512(kBitLengths.data() + 64));
  const V ones = _mm512_shuffle_epi8(
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 3, 7, 15, 31, 63, 127, 0, 0, 0, 0, 0, 0, 0, 0)),
      length);
  const V bits = _mm512_and_si512(
      _mm512_mask_sub_epi8(value, _mm512_movepi8_mask(value), value, _mm512_set1_epi8(1)), ones);

  const V symbol = _mm512_or_si512(_mm512_slli_epi16(run, 4), length);
  const V code_bits = look_up(codes.bits, symbol, used);
  if (_mm512_mask_testn_epi8_mask(used, code_bits, code_bits) != 0) [[unlikely]]
    return false;
  const V code_low = look_up(codes.low, symbol, used);
  const V code_high = look_up(codes.high, symbol, used);
  const V width = _mm512_add_epi8(code_bits, length);

  // How many bits four values have together.
  const V four_widths = _mm512_dpbusd_epi32(_mm512_setzero_si512(), width, _mm512_set1_epi8(1));
  if (_mm512_cmpgt_epu32_mask(four_widths, _mm512_set1_epi32(EntropyWriter::kMostLongBits)) != 0)
      [[unlikely]]
    return one_by_one();

  alignas(64) uint8_t planes[5][64];
  alignas(64) uint32_t widths[16];
  _mm512_store_si512(planes[0], code_low);
  _mm512_store_si512(planes[1], code_high);
  _mm512_store_si512(planes[2], length);
  _mm512_store_si512(planes[3], bits);
  _mm512_store_si512(planes[4], width);
  _mm512_store_si512(widths, four_widths);
  EntropyWriter writer = target;
  writer.settle();
  for (int i = 0; i < count; i += 16) {
    const auto sixteen = [&](int plane) __attribute__((always_inline)) {
      return _mm512_cvtepu8_epi32(
          _mm_load_si128(reinterpret_cast<const __m128i*>(planes[plane] + i)));
    };
    const V code = _mm512_or_si512(sixteen(0), _mm512_slli_epi32(sixteen(1), 8));
    const V one = _mm512_or_si512(_mm512_sllv_epi32(code, sixteen(2)), sixteen(3));
    const V one_width = sixteen(4);
    // Two by two, and once more; the first of them has the highest bits.
    const V second_width = _mm512_srli_epi64(one_width, 32);
    const V two = _mm512_or_si512(
        _mm512_sllv_epi64(_mm512_and_si512(one, _mm512_set1_epi64(0xFFFFFFFF)), second_width),
        _mm512_srli_epi64(one, 32));
    const V two_width =
        _mm512_and_si512(_mm512_add_epi64(one_width, second_width), _mm512_set1_epi64(0xFF));
    const V four =
        _mm512_or_si512(_mm512_sllv_epi64(two, _mm512_unpackhi_epi64(two_width, two_width)),
                        _mm512_unpackhi_epi64(two, two));
    alignas(64) uint64_t words[8];  // every second one counts
    _mm512_store_si512(words, four);
    for (int k = 0; k < 4 && i + 4 * k < count; ++k)
      writer.put_long(words[2 * k], static_cast<int>(widths[i / 4 + k]));
  }
  const bool is_whole = mask >> 63 != 0;
  const HuffmanCode end = codes.codes.of[kEndOfBlockSymbol];
  if (!is_whole) writer.put_long(end.code, end.bits);
  target = writer;
  return is_whole || end.bits != 0;
}

}  // namespace penstock::avx512
