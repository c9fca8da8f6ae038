#include "kernels/final_pass/row_writer.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/image.h"

namespace penstock {
namespace {

bool fills_cache_lines(const Output& output) {
  const ptrdiff_t row_bytes = static_cast<ptrdiff_t>(output.width) * size_of(output.element) *
                              (output.layout == Layout::hwc ? output.channels : 1);
  const ptrdiff_t plane_stride = output.layout == Layout::chw ? output.plane_stride : 0;
  return reinterpret_cast<uintptr_t>(output.data) % kCacheLine == 0 &&
         output.row_stride % kCacheLine == 0 && plane_stride % kCacheLine == 0 &&
         row_bytes % kCacheLine == 0;
}

}  // namespace

bool stores_past_cache(const Output& output) {
  return output.past_cache && output.element != Element::uint8 && fills_cache_lines(output);
}

void RowWriter::begin(const Output& output, int in_channels) {
  output_ = output;
  in_channels_ = in_channels;
  shuffle_ = &PENSTOCK_PICK(row_shuffle);
  convert_ = nullptr;
  if (output.element != Element::uint8) convert_ = converter_for(output.element, *output.pass);
  past_cache_ = stores_past_cache(output);
  if (output.watch != nullptr) output.watch->start();
  if (output.layout == Layout::hwc && output.channels == 3)
    pixels_.reserve(3 * (static_cast<size_t>(output.width) + kRowSlack));
}

void RowWriter::write(int y, const uint8_t* const given[3]) {
  uint8_t* row = static_cast<uint8_t*>(output_.data) + y * output_.row_stride;
  const bool gray = in_channels_ == 1, turned = output_.blue_first && !gray;
  const uint8_t* const planes[3] = {given[turned ? 2 : 0], given[1], given[turned ? 0 : 2]};
  if (output_.layout == Layout::rgbx)
    shuffle_->interleave_rgbx(row, planes[0], planes[gray ? 0 : 1], planes[gray ? 0 : 2],
                              output_.width);
  else if (output_.layout == Layout::hwc && output_.channels == 3)
    write_interleaved(row, planes);
  else
    write_planar(row, planes);
  if (output_.watch != nullptr)
    output_.watch->see({{given[0], given[1], given[2]}, 0, 1, output_.width, in_channels_});
  if (output_.beside != nullptr) output_.beside->step();
}

void RowWriter::finish() {
#if defined(__x86_64__)
  if (past_cache_) _mm_sfence();
#endif
}

void RowWriter::write_planar(uint8_t* row, const uint8_t* const planes[3]) {
  for (int c = 0; c < output_.channels; ++c, row += output_.plane_stride) {
    const uint8_t* source = planes[in_channels_ == 1 ? 0 : c];
    if (convert_ == nullptr)
      std::memcpy(row, source, output_.width);
    else
      convert_(row, source, output_.width, *output_.pass, c, past_cache_);
  }
}

void RowWriter::write_interleaved(uint8_t* row, const uint8_t* const planes[3]) {
  uint8_t* pixels = pixels_.data();
  const bool gray = in_channels_ == 1;
  shuffle_->interleave(pixels, planes[0], planes[gray ? 0 : 1], planes[gray ? 0 : 2],
                       output_.width);
  if (convert_ == nullptr)
    std::memcpy(row, pixels, 3 * static_cast<size_t>(output_.width));
  else
    convert_(row, pixels, 3 * output_.width, *output_.pass, kInterleaved, past_cache_);
}

}  // namespace penstock
