#include "records/inflate_pixels.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "base/image.h"

namespace penstock {
namespace {

constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();  // zlib counts in unsigned ints

constexpr size_t kMostKept = size_t{64} << 20;

constexpr const char* kDamaged = "its compressed pixels are damaged";
constexpr const char* kTooFew = "has too few compressed pixels for its size";

/// Lets zlib have as much more as it can count, and returns what is then left.
size_t hand_over(uInt& available, size_t left) {
  const size_t some = std::min(left, kMostAtOnce - available);
  available += static_cast<uInt>(some);
  return left - some;
}

/// Whether a stream that has no byte more than it gave has the checksum of them, too.
const char* problem_at_end(z_stream& stream) {
  uint8_t beyond;
  stream.next_out = &beyond;
  stream.avail_out = 1;
  if (::inflate(&stream, Z_NO_FLUSH) == Z_DATA_ERROR) return kDamaged;
  return stream.avail_out == 0 ? "has more compressed pixels than its size says" : nullptr;
}

}  // namespace

PixelInflater::PixelInflater() = default;
PixelInflater::~PixelInflater() {
  if (stream_) inflateEnd(stream_.get());
}

const char* PixelInflater::inflate(std::span<const uint8_t> stream, const RowsWanted& wanted) {
  if (!stream_) {
    auto fresh = std::make_unique<z_stream>();
    if (inflateInit(fresh.get()) != Z_OK) throw std::bad_alloc();
    stream_ = std::move(fresh);
  } else {
    inflateReset(stream_.get());
  }
  const size_t row_bytes = size_t{3} * static_cast<size_t>(wanted.width);
  const size_t bytes = row_bytes * static_cast<size_t>(wanted.rows);
  z_stream& z = *stream_;
  z.next_out = memory_.reserve(bytes + kRowSlack);
  z.next_in = const_cast<Bytef*>(stream.data());  // zlib's types are older than const
  z.avail_in = z.avail_out = 0;
  size_t unread = stream.size(), unwritten = bytes;
  int status = Z_OK;
  do {
    unread = hand_over(z.avail_in, unread);
    unwritten = hand_over(z.avail_out, unwritten);
    status = ::inflate(&z, Z_NO_FLUSH);
  } while (status == Z_OK && (unread > 0 || z.avail_in > 0) && (unwritten > 0 || z.avail_out > 0));
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  // Z_BUF_ERROR is none: a stream that was cut off.
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return kDamaged;
  if (unwritten > 0 || z.avail_out > 0) return kTooFew;
  if (status == Z_STREAM_END) return wanted.rows < wanted.height ? kTooFew : nullptr;
  return wanted.rows < wanted.height ? nullptr : problem_at_end(z);
}

void PixelInflater::forget_large() {
  if (memory_.capacity() > kMostKept) memory_ = Buffer();
}

}  // namespace penstock
