#include "kernels/pad.h"

#include <algorithm>
#include <cstring>

namespace penstock {

int padded_source(int p, int size, PadMode mode) {
  if (p >= 0 && p < size) return p;
  switch (mode) {
    case PadMode::constant:
      return kPadOutside;
    case PadMode::edge:
      return std::clamp(p, 0, size - 1);
    case PadMode::reflect: {
      if (size == 1) return 0;
      const int period = 2 * (size - 1);
      const int phase = ((p % period) + period) % period;
      return phase < size ? phase : period - phase;
    }
    case PadMode::symmetric: {
      const int period = 2 * size;
      const int phase = ((p % period) + period) % period;
      return phase < size ? phase : period - 1 - phase;
    }
  }
  return kPadOutside;
}

namespace {

void pad_row(uint8_t* target, const uint8_t* source, int source_width, const PadSpec& spec,
             const Region& window, uint8_t fill) {
  // Columns of the window that lie in the image itself are copied, the others looked up.
  const int inside_begin = std::clamp(spec.left - window.left, 0, window.width);
  const int inside_end =
      std::clamp(spec.left + source_width - window.left, inside_begin, window.width);
  const auto look_up = [&](int x) {
    const int index = padded_source(window.left + x - spec.left, source_width, spec.mode);
    target[x] = index == kPadOutside ? fill : source[index];
  };
  for (int x = 0; x < inside_begin; ++x) look_up(x);
  if (inside_end > inside_begin)
    std::memcpy(target + inside_begin, source + (window.left + inside_begin - spec.left),
                inside_end - inside_begin);
  for (int x = inside_end; x < window.width; ++x) look_up(x);
}

// Rows that are passed on together: enough to amortise the call, few enough for L1.
constexpr int kBorderRows = 2 * kBandRows;

}  // namespace

void pad(const PlanarTarget& target, const PlanarView& source, const PadSpec& spec,
         const Region& window) {
  for (int c = 0; c < target.channels; ++c) {
    const int source_channel = source.channels == 1 ? 0 : c;
    for (int y = 0; y < window.height; ++y) {
      const int row = padded_source(window.top + y - spec.top, source.height, spec.mode);
      if (row == kPadOutside)
        std::memset(target.row(c, y), spec.fill[c], window.width);
      else
        pad_row(target.row(c, y), source.row(source_channel, row), source.width, spec, window,
                spec.fill[c]);
    }
  }
}

RowSink& BorderSink::begin(RowSink& next, const Bordered& image, const uint8_t (&fill)[3]) {
  next_ = &next;
  image_ = image;
  std::copy_n(fill, 3, fill_);
  rows_ = passed_on_ = 0;
  memory_.reserve(static_cast<size_t>(image.channels) * kBorderRows * (image.width + kRowSlack));
  // Rows of the image are written between these, and leave them as they are.
  for (int c = 0; c < image.channels; ++c)
    for (int y = 0; y < kBorderRows; ++y)
      std::memset(band().row(c, y), fill_[c], static_cast<size_t>(image.width));
  return *this;
}

PlanarTarget BorderSink::band() const {
  PlanarTarget band{{}, image_.width + kRowSlack, kBorderRows, image_.width, image_.channels};
  for (int c = 0; c < image_.channels; ++c)
    band.plane[c] = memory_.data() + c * kBorderRows * band.stride;
  return band;
}

void BorderSink::take(const PlanarView& rows, int first_row) {
  if (first_row == 0) add_border_rows(image_.inside.top);
  const PlanarTarget band = this->band();
  for (int y = 0; y < rows.height; ++y) {
    for (int c = 0; c < image_.channels; ++c)
      std::memcpy(band.row(c, rows_) + image_.inside.left, rows.row(rows.channels == 1 ? 0 : c, y),
                  static_cast<size_t>(rows.width));
    if (++rows_ == kBorderRows) pass_on();
  }
  if (first_row + rows.height != image_.inside.height) return;
  add_border_rows(image_.height - image_.inside.top - image_.inside.height);
  if (rows_ > 0) pass_on();
}

void BorderSink::add_border_rows(int count) {
  const PlanarTarget band = this->band();
  for (int y = 0; y < count; ++y) {
    for (int c = 0; c < image_.channels; ++c)
      std::memset(band.row(c, rows_), fill_[c], static_cast<size_t>(image_.width));
    if (++rows_ == kBorderRows) pass_on();
  }
}

void BorderSink::pass_on() {
  PlanarView rows = band().view();
  rows.height = rows_;
  const int first_row = passed_on_;
  passed_on_ += rows_;
  rows_ = 0;
  next_->take(rows, first_row);
}

}  // namespace penstock
