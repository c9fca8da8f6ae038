// The inverse DCT of sparse blocks, four at once, without a detour through memory.
#include <array>

#include "codec/reconstruct.h"
#include "codec/reconstruct/idct_avx512.h"
#include "codec/zigzag.h"

namespace penstock::avx512 {
namespace {

constexpr std::array<uint8_t, 64> kZigzagPositions = [] {
  std::array<uint8_t, 64> positions{};
  for (int position = 0; position < 64; ++position)
    positions[kNaturalOrder[position]] = static_cast<uint8_t>(position);
  return positions;
}();

// ---- eight rows of eight columns ----

/// From the zigzag positions of a block in a and another in b: the pairs of one group of rows, 32
/// bytes for either block.
constexpr Bytes pairs_of_two(int group) {
  Bytes index{};
  for (int i = 0; i < 64; ++i)
    index.at[i] = static_cast<uint8_t>(
        64 * (i / 32) + kZigzagPositions[paired_place(group, i / 16 % 2, i / 8 % 2, i % 8)]);
  return index;
}

/// From such bytes of blocks (0, 1) in a and (2, 3) in b: one pair of four columns, a block in each
/// lane. Every byte comes twice, for the low or the high byte of a word.
constexpr Bytes pair_of_four(int pair, int half) {
  Bytes index{};
  for (int i = 0; i < 64; ++i)
    index.at[i] = static_cast<uint8_t>(32 * (i / 16) + 16 * pair + 8 * half + i % 16 / 2);
  return index;
}

alignas(64) constexpr Bytes kPairsOfTwo[2] = {pairs_of_two(0), pairs_of_two(1)};
alignas(64) constexpr Bytes kPairOfFour[2][2] = {{pair_of_four(0, 0), pair_of_four(0, 1)},
                                                 {pair_of_four(1, 0), pair_of_four(1, 1)}};

constexpr __mmask64 kLowBytes = 0x5555555555555555, kHighBytes = ~kLowBytes;

/// x[4 * group + 2 * pair + half] becomes a register of words whose bytes in `where` are the values
/// of four blocks; the other bytes are zero.
[[gnu::always_inline]] inline void expand(V (&x)[8], const SparseBlocks& blocks, int block,
                                          const int8_t* values, __mmask64 where) {
  V bytes[4];
  for (int b = 0; b < 4; ++b)
    bytes[b] = _mm512_maskz_expand_epi8(blocks.mask[block + b],
                                        _mm512_loadu_si512(values + blocks.first[block + b]));
  for (int group = 0; group < 2; ++group) {
    const V index = _mm512_load_si512(&kPairsOfTwo[group]);
    const V first = _mm512_permutex2var_epi8(bytes[0], index, bytes[1]);
    const V second = _mm512_permutex2var_epi8(bytes[2], index, bytes[3]);
    for (int pair = 0; pair < 2; ++pair)
      for (int half = 0; half < 2; ++half)
        x[4 * group + 2 * pair + half] = _mm512_maskz_permutex2var_epi8(
            where, first, _mm512_load_si512(&kPairOfFour[pair][half]), second);
  }
}

[[gnu::always_inline]] inline V quant_of(const uint16_t* eight) {
  return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(eight)));
}

/// Loads and dequantises all but the first coefficients.
[[gnu::always_inline]] inline void load_pairs(V (&x)[8], const SparseBlocks& blocks, int block,
                                              const SparseQuant& quant) {
  if (blocks.high == nullptr && quant.is_byte) [[likely]] {
    expand(x, blocks, block, blocks.values, kLowBytes);
    for (int i = 0; i < 8; ++i) x[i] = _mm512_maddubs_epi16(quant_of(quant.paired[i]), x[i]);
    return;
  }
  expand(x, blocks, block, blocks.high == nullptr ? blocks.values : blocks.high, kHighBytes);
  if (blocks.high == nullptr) {
    for (V& words : x) words = _mm512_srai_epi16(words, 8);
  } else {
    V low[8];
    expand(low, blocks, block, blocks.values, kLowBytes);
    for (int i = 0; i < 8; ++i) x[i] = _mm512_or_si512(x[i], low[i]);
  }
  for (int i = 0; i < 8; ++i) x[i] = _mm512_mullo_epi16(x[i], quant_of(quant.paired[i]));
}

// ---- four rows of four columns ----

constexpr int kFourPositions = last_zigzag_position(4) + 1;
static_assert(kFourPositions <= 32);

/// From the first 32 zigzag positions of blocks (0, 1) in a and (2, 3) in b: pairs of rows.
constexpr Bytes four_pair(int pair) {
  Bytes index{};
  for (int i = 0; i < 64; ++i)
    index.at[i] =
        static_cast<uint8_t>(32 * (i / 16) + kZigzagPositions[four_paired_place(pair, i % 16 / 2)]);
  return index;
}

alignas(64) constexpr Bytes kFourPair[2] = {four_pair(0), four_pair(1)};

/// The same for blocks without any coefficient in kBeyondFour. Requires that values and quantisers
/// are bytes.
[[gnu::always_inline]] inline void load_four_pairs(V (&x)[2], const SparseBlocks& blocks, int block,
                                                   const SparseQuant& quant) {
  __m256i bytes[4];
  for (int b = 0; b < 4; ++b) {
    const int8_t* next = blocks.values + blocks.first[block + b];
    bytes[b] = _mm256_maskz_expand_epi8(static_cast<__mmask32>(blocks.mask[block + b]),
                                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(next)));
  }
  const V first = _mm512_inserti64x4(_mm512_castsi256_si512(bytes[0]), bytes[1], 1);
  const V second = _mm512_inserti64x4(_mm512_castsi256_si512(bytes[2]), bytes[3], 1);
  for (int pair = 0; pair < 2; ++pair) {
    const V values = _mm512_maskz_permutex2var_epi8(kLowBytes, first,
                                                    _mm512_load_si512(&kFourPair[pair]), second);
    x[pair] = _mm512_maddubs_epi16(quant_of(quant.four_paired[pair]), values);
  }
}

// ---- both ----

/// Word `place` of each lane is word i of the source, where i is the lane.
constexpr Words of_lane(int place) {
  Words index{};
  for (int lane = 0; lane < 4; ++lane) index.at[8 * lane + place] = static_cast<uint16_t>(lane);
  return index;
}

constexpr int kFourDc = 3;
static_assert(paired_place(0, 0, 0, 0) == 0 && four_paired_place(0, kFourDc) == 0);
alignas(64) constexpr Words kOfLane = of_lane(0), kOfLaneInFour = of_lane(kFourDc);

/// Puts the first coefficients, dequantised, into word kPlace of each lane.
template <int kPlace>
[[gnu::always_inline]] inline V with_dc(V x, const SparseBlocks& blocks, int block,
                                        const SparseQuant& quant) {
  const __m128i dc =
      _mm_mullo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(blocks.dc + block)),
                      _mm_set1_epi16(static_cast<int16_t>(quant.natural[0])));
  const V index = _mm512_load_si512(kPlace == 0 ? &kOfLane : &kOfLaneInFour);
  return _mm512_mask_permutexvar_epi16(x, 0x01010101u << kPlace, index, _mm512_castsi128_si512(dc));
}

}  // namespace

void sparse_idct(uint8_t* plane, ptrdiff_t stride, const SparseBlocks& blocks, int first,
                 const SparseQuant& quant, bool centred) {
  const V offset = _mm512_set1_epi8(static_cast<char>(centred ? 0 : 0x80));
  const uint64_t* mask = blocks.mask + first;
  const uint64_t all = mask[0] | mask[1] | mask[2] | mask[3];
  if ((all & kBeyondFour) == 0 && blocks.high == nullptr && quant.is_byte) {
    V x[2];
    load_four_pairs(x, blocks, first, quant);
    x[0] = with_dc<kFourDc>(x[0], blocks, first, quant);
    if (is_in_range(x[0])) [[likely]]
      return transform_four_pairs(plane, stride, x[0], x[1], offset);
  } else {
    V x[8];
    load_pairs(x, blocks, first, quant);
    x[0] = with_dc<0>(x[0], blocks, first, quant);
    if (is_in_range(x[0]) && is_in_range(x[1])) [[likely]]
      return transform_pairs(plane, stride, {x[0], x[2], x[4], x[6]}, {x[1], x[3], x[5], x[7]},
                             offset);
  }
  scalar::sparse_idct(plane, stride, blocks, first, quant, centred);
}

}  // namespace penstock::avx512
