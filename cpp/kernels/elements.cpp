#include "kernels/elements.h"

#include <cstring>

namespace penstock {
namespace {

template <class Byte>
size_t row_bytes(const ElementRows<Byte>& rows) {
  return static_cast<size_t>(rows.width) * rows.bytes;
}

template <size_t kBytes>
void repeat_as(uint8_t* target, const uint8_t* element, size_t count) {
  uint8_t one[kBytes];
  std::memcpy(one, element, kBytes);
  for (size_t i = 0; i < count; ++i) std::memcpy(target + i * kBytes, one, kBytes);
}

/// Writes `count` times the same element.
void repeat_element(uint8_t* target, const uint8_t* element, size_t count, int bytes) {
  switch (bytes) {
    case 1:
      std::memset(target, *element, count);
      return;
    case 2:
      return repeat_as<2>(target, element, count);
    case 3:
      return repeat_as<3>(target, element, count);
    case 4:
      return repeat_as<4>(target, element, count);
    case 8:
      return repeat_as<8>(target, element, count);
    default:
      for (size_t i = 0; i < count; ++i)
        std::memcpy(target + i * bytes, element, static_cast<size_t>(bytes));
  }
}

struct Padding {
  int left;
  PadMode mode;
  const uint8_t* fill;
};

void pad_row(uint8_t* to, int to_width, const uint8_t* from, int width, int bytes,
             const Padding& padding) {
  const int left = padding.left, right = to_width - left - width;
  std::memcpy(to + static_cast<ptrdiff_t>(left) * bytes, from, static_cast<size_t>(width) * bytes);
  uint8_t* behind = to + static_cast<ptrdiff_t>(left + width) * bytes;
  if (padding.mode == PadMode::constant) {
    repeat_element(to, padding.fill, left, bytes);
    repeat_element(behind, padding.fill, right, bytes);
    return;
  }
  if (padding.mode == PadMode::edge) {
    repeat_element(to, from, left, bytes);
    repeat_element(behind, from + static_cast<ptrdiff_t>(width - 1) * bytes, right, bytes);
    return;
  }
  // Most borders are narrow: they mirror the image once, with its last element or without it.
  const int skipped = padding.mode == PadMode::reflect ? 1 : 0;
  if (left <= width - skipped && right <= width - skipped) {
    const auto mirror = PENSTOCK_PICK(mirror_elements);
    mirror(to, from + skipped * bytes, left, bytes);
    mirror(behind, from + static_cast<ptrdiff_t>(width - right - skipped) * bytes, right, bytes);
    return;
  }
  const auto look_up = [&](int x) {
    const ptrdiff_t place = padded_source(x - left, width, padding.mode);
    std::memcpy(to + static_cast<ptrdiff_t>(x) * bytes, from + place * bytes, bytes);
  };
  for (int x = 0; x < left; ++x) look_up(x);
  for (int x = left + width; x < to_width; ++x) look_up(x);
}

/// Rows without gaps: the border behind one row and that before the next are one.
void pad_constant(const ElementTarget& target, const ElementSource& source, int top, int left,
                  const uint8_t* fill) {
  const int bytes = source.bytes;
  const size_t length = row_bytes(source);
  const size_t between = static_cast<size_t>(target.width - source.width);
  const size_t before = static_cast<size_t>(top) * target.width + left;
  repeat_element(target.data, fill, before, bytes);
  uint8_t* to = target.data + before * bytes;
  for (int y = 0; y < source.height; ++y) {
    std::memcpy(to, source.row(y), length);
    to += length;
    if (y + 1 == source.height) break;
    repeat_element(to, fill, between, bytes);
    to += between * bytes;
  }
  const uint8_t* end = target.data + row_bytes(target) * target.height;
  repeat_element(to, fill, static_cast<size_t>(end - to) / bytes, bytes);
}

}  // namespace

void copy_elements(const ElementTarget& target, const ElementSource& source, bool flip_horizontal,
                   bool flip_vertical) {
  const size_t length = row_bytes(source);
  const auto mirror = PENSTOCK_PICK(mirror_elements);
  for (int y = 0; y < source.height; ++y) {
    uint8_t* to = target.row(flip_vertical ? source.height - 1 - y : y);
    if (flip_horizontal)
      mirror(to, source.row(y), source.width, source.bytes);
    else
      std::memcpy(to, source.row(y), length);
  }
}

void pad_elements(const ElementTarget& target, const ElementSource& source, int top, int left,
                  PadMode mode, const uint8_t* fill) {
  const auto width = static_cast<ptrdiff_t>(row_bytes(target));
  if (mode == PadMode::constant && target.stride == width) {
    pad_constant(target, source, top, left, fill);
    return;
  }
  const Padding padding{left, mode, fill};
  for (int y = 0; y < target.height; ++y) {
    const int row = padded_source(y - top, source.height, mode);
    if (row == kPadOutside)
      repeat_element(target.row(y), fill, target.width, target.bytes);
    else
      pad_row(target.row(y), target.width, source.row(row), source.width, source.bytes, padding);
  }
}

}  // namespace penstock
