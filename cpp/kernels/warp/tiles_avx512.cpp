// Nearest warps of whole images, tile by tile.
//
// The 64 pixels of a tile of the output come from a window of the source that fits into three or
// four registers. Byte shuffles take them from there. Which bytes they take is the same for all
// channels, and nearly the same for all tiles: only what the places of a tile's first pixel leave
// behind the point decides whether a pixel comes from one column, or one row, further on.
#include <immintrin.h>

#include <algorithm>

#include "kernels/warp/warp_rows.h"

namespace penstock::avx512 {
namespace {

constexpr int kPixels = 64;

/// Where pixels lie from a tile's first one on, along one axis: whole steps, counted from the least
/// of them, and 16 bits behind the point.
struct Steps {
  alignas(64) uint8_t whole[kPixels];
  alignas(64) uint16_t rest[kPixels];
  int least;
  int count;  // of the columns or rows of a window that pixels can come from

  /// False if some pixel could be `limit` steps or more from the window's first.
  bool set(uint32_t across, uint32_t down, int wide, int limit) {
    const int64_t right = int64_t{static_cast<int32_t>(across)} * (wide - 1);
    const int64_t low = int64_t{static_cast<int32_t>(down)} * (kPixels / wide - 1);
    least = static_cast<int>((std::min<int64_t>(right, 0) + std::min<int64_t>(low, 0)) >> 16);
    const int64_t most = (std::max<int64_t>(right, 0) + std::max<int64_t>(low, 0)) >> 16;
    count = static_cast<int>(most) - least + 2;
    if (count > limit) return false;
    for (int i = 0; i < kPixels; ++i) {
      const auto place = static_cast<int32_t>(across * static_cast<uint32_t>(i % wide) +
                                              down * static_cast<uint32_t>(i / wide));
      whole[i] = static_cast<uint8_t>((place >> 16) - least);
      rest[i] = static_cast<uint16_t>(place);
    }
    return true;
  }

  /// The pixels that a first one with such a rest moves one step further on.
  __mmask64 carried(uint32_t first) const {
    const __m512i room = _mm512_set1_epi16(static_cast<int16_t>(0xffff - (first & 0xffff)));
    const __mmask32 low = _mm512_cmpgt_epu16_mask(_mm512_load_si512(rest), room);
    const __mmask32 high = _mm512_cmpgt_epu16_mask(_mm512_load_si512(rest + 32), room);
    return _mm512_kunpackd(high, low);
  }
};

__m512i bytes_of(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }

/// The rows of a register, of which `row_at` gives the addresses; perhaps without the last.
template <int kColumns, bool kAll, class RowAt>
__m512i load_rows(RowAt row_at) {
  if constexpr (kColumns == 32) {
    const auto row = [=](int y) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_at(y)));
    };
    const __m512i first = _mm512_castsi256_si512(row(0));
    if constexpr (!kAll) return first;
    return _mm512_inserti64x4(first, row(1), 1);
  } else {
    const auto row = [=](int y) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row_at(y)));
    };
    __m512i rows = _mm512_castsi128_si512(row(0));
    rows = _mm512_inserti32x4(rows, row(1), 1);
    rows = _mm512_inserti32x4(rows, row(2), 2);
    return _mm512_inserti32x4(rows, row(3), 3);
  }
}

template <int kWide>
void store_tile(uint8_t* to, ptrdiff_t stride, __m512i tile) {
  const __m128i parts[4] = {_mm512_castsi512_si128(tile), _mm512_extracti32x4_epi32(tile, 1),
                            _mm512_extracti32x4_epi32(tile, 2), _mm512_extracti32x4_epi32(tile, 3)};
  for (const __m128i part : parts) {
    if constexpr (kWide == 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), part);
      to += stride;
    } else {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), part);
      _mm_storeh_pi(reinterpret_cast<__m64*>(to + stride), _mm_castsi128_ps(part));
      to += 2 * stride;
    }
  }
}

/// Which of a window's rows or columns, counted from `first`, are among the `size` of the source.
struct Limits {
  uint8_t least, most;
  bool any;

  Limits(int first, int size) {
    const int low = std::max(-first, 0), high = std::min(size - first, kPixels) - 1;
    any = low <= high;
    least = static_cast<uint8_t>(std::min(low, kPixels));
    most = static_cast<uint8_t>(std::max(high, 0));
  }
  __mmask64 hold(__m512i counts) const {
    return any ? _mm512_cmpge_epu8_mask(counts, bytes_of(least)) &
                     _mm512_cmple_epu8_mask(counts, bytes_of(most))
               : 0;
  }
};

/// The window of a tile, by the addresses of its rows.
template <int kColumns, int kRows, class RowAt>
class Window {
 public:
  explicit Window(RowAt row_at) {
    for (int r = 0; r + 1 < kRegisters; ++r)
      rows_[r] = load_rows<kColumns, true>([&](int i) { return row_at(kRowsEach * r + i); });
    constexpr int kLast = kRegisters - 1;
    rows_[kLast] = load_rows<kColumns, kRows == kRegisters * kRowsEach>(
        [&](int i) { return row_at(kRowsEach * kLast + i); });
  }

  /// The bytes at these places. `far` are those of 128 and above.
  __m512i take(__m512i at, __mmask64 far) const {
    const __m512i near = _mm512_permutex2var_epi8(rows_[0], at, rows_[1]);
    if constexpr (kRegisters == 3)
      return _mm512_mask_permutexvar_epi8(near, far, at, rows_[2]);
    else
      return _mm512_mask_blend_epi8(far, near, _mm512_permutex2var_epi8(rows_[2], at, rows_[3]));
  }

 private:
  static constexpr int kRowsEach = 64 / kColumns;  // of a register
  static constexpr int kRegisters = (kRows + kRowsEach - 1) / kRowsEach;
  static_assert(kRegisters == 3 || kRegisters == 4);
  __m512i rows_[kRegisters];
};

template <int kColumns, int kRows, class RowAt>
Window<kColumns, kRows, RowAt> window_of(RowAt row_at) {
  return Window<kColumns, kRows, RowAt>(row_at);
}

/// Tiles of kWide columns. Their windows have twice as many, and kRows rows.
template <int kWide, int kRows>
class Tiles {
 public:
  Tiles(const PlanarView& in, const FixedMatrix& matrix, const uint8_t (&fill)[3])
      : in_(in), matrix_(matrix), fill_(fill) {}

  /// Whether windows are large enough for this warp.
  bool fit() {
    if (!across_.set(matrix_.a, matrix_.b, kWide, kColumns) ||
        !down_.set(matrix_.d, matrix_.e, kWide, kRows))
      return false;
    for (int i = 0; i < kPixels; ++i)
      at_[i] = static_cast<uint8_t>(kColumns * down_.whole[i] + across_.whole[i]);
    return true;
  }

  /// Requires fit().
  template <int kPlanes>
  void copy(const PlanarTarget out) const {
    for (int row = 0; row < out.height; row += kTall) {
      const int y = std::min(row, out.height - kTall);
      for (int x = 0; x < out.width; x += kWide) copy_tile<kPlanes>(out, y, x);
    }
  }

  static constexpr int kTall = kPixels / kWide;

 private:
  static constexpr int kColumns = 2 * kWide;

  template <int kPlanes>
  void copy_tile(const PlanarTarget& out, int y, int x) const {
    const auto row = static_cast<uint32_t>(y), column = static_cast<uint32_t>(x);
    const uint32_t across = matrix_.a * column + matrix_.b * row + matrix_.c;
    const uint32_t down = matrix_.d * column + matrix_.e * row + matrix_.f;
    const int left = (static_cast<int32_t>(across) >> 16) + across_.least;
    const int top = (static_cast<int32_t>(down) >> 16) + down_.least;
    __m512i at = _mm512_load_si512(at_);
    at = _mm512_mask_add_epi8(at, across_.carried(across), at, bytes_of(1));
    at = _mm512_mask_add_epi8(at, down_.carried(down), at, bytes_of(kColumns));
    const bool is_inside =
        left >= 0 && left + across_.count <= in_.width && top >= 0 && top + kRows <= in_.height;
    if (is_inside)
      copy_inside<kPlanes>(out, y, x, top, left, at);
    else
      copy_edge<kPlanes>(out, y, x, top, left, at);
  }

  /// All pixels come from the source, and all rows of the window are there.
  template <int kPlanes>
  void copy_inside(const PlanarTarget& out, int y, int x, int top, int left, __m512i at) const {
    const __mmask64 far = _mm512_movepi8_mask(at);
    for (int c = 0; c < kPlanes; ++c) {
      const uint8_t* const first = in_.row(std::min(c, in_.channels - 1), top) + left;
      const auto window = window_of<kColumns, kRows>([&](int i) { return first + i * in_.stride; });
      store_tile<kWide>(out.row(c, y) + x, out.stride, window.take(at, far));
    }
  }

  /// In place of rows outside the source others are loaded, and columns begin inside it.
  template <int kPlanes>
  void copy_edge(const PlanarTarget& out, int y, int x, int top, int left, __m512i at) const {
    const __m512i column = _mm512_and_si512(at, bytes_of(kColumns - 1));
    const __m512i row = _mm512_and_si512(_mm512_srli_epi16(at, kColumns == 32 ? 5 : 4),
                                         bytes_of(kColumns == 32 ? 7 : 15));
    const __mmask64 there =
        Limits(left, in_.width).hold(column) & Limits(top, in_.height).hold(row);
    const int begin = std::clamp(left, 0, in_.width - 1);
    at = _mm512_sub_epi8(at, bytes_of(begin - left));
    const __mmask64 far = _mm512_movepi8_mask(at);
    ptrdiff_t rows[kRows];
    for (int i = 0; i < kRows; ++i)
      rows[i] = std::clamp(top + i, 0, in_.height - 1) * in_.stride + begin;
    for (int c = 0; c < kPlanes; ++c) {
      const uint8_t* const plane = in_.plane[std::min(c, in_.channels - 1)];
      __m512i tile = bytes_of(fill_[c]);
      if (there != 0) {
        const auto window = window_of<kColumns, kRows>([&](int i) { return plane + rows[i]; });
        tile = _mm512_mask_mov_epi8(tile, there, window.take(at, far));
      }
      store_tile<kWide>(out.row(c, y) + x, out.stride, tile);
    }
  }

  // Copies: others might be changed by what is written to the output, for all that compilers know.
  const PlanarView in_;
  const FixedMatrix matrix_;
  const uint8_t (&fill_)[3];
  Steps across_, down_;
  alignas(64) uint8_t at_[kPixels];  // from the window's first byte
};

template <int kWide, int kRows>
bool copy_as(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
             const uint8_t (&fill)[3]) {
  using Of = Tiles<kWide, kRows>;
  Of tiles(in, matrix, fill);
  if (out.height < Of::kTall || !tiles.fit()) return false;
  if (out.channels == 1)
    tiles.template copy<1>(out);
  else
    tiles.template copy<3>(out);
  return true;
}

}  // namespace

bool copy_tiles(const PlanarTarget& out, const PlanarView& in, const FixedMatrix& matrix,
                const uint8_t (&fill)[3]) {
  // Wide tiles have fewer rows to load and to store; steep warps need others.
  return copy_as<16, 6>(out, in, matrix, fill) || copy_as<16, 7>(out, in, matrix, fill) ||
         copy_as<16, 8>(out, in, matrix, fill) || copy_as<8, 12>(out, in, matrix, fill);
}

}  // namespace penstock::avx512
