#include "codec/restore/deflate.h"

#include <zlib.h>

#include <new>

namespace penstock {
namespace {

constexpr int kRawWindowBits = -15;  // negative: without zlib's own header and checksum

/// zlib's types are older than const.
Bytef* input_of(std::span<const uint8_t> bytes) { return const_cast<Bytef*>(bytes.data()); }

}  // namespace

void append_deflated(std::vector<uint8_t>& bytes, std::span<const uint8_t> plain) {
  constexpr int kMemoryLevel = 8;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kRawWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::vector<uint8_t>& dictionary = header_dictionary();
  deflateSetDictionary(&stream, dictionary.data(), static_cast<uInt>(dictionary.size()));
  const size_t begin = bytes.size();
  const size_t bound = deflateBound(&stream, static_cast<uLong>(plain.size()));
  bytes.resize(begin + bound);
  stream.next_in = input_of(plain);
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = bytes.data() + begin;
  stream.avail_out = static_cast<uInt>(bound);
  deflate(&stream, Z_FINISH);
  bytes.resize(bytes.size() - stream.avail_out);
  deflateEnd(&stream);
}

bool inflate_exactly(std::span<uint8_t> plain, std::span<const uint8_t> deflated) {
  z_stream stream = {};
  if (inflateInit2(&stream, kRawWindowBits) != Z_OK) throw std::bad_alloc();
  const std::vector<uint8_t>& dictionary = header_dictionary();
  inflateSetDictionary(&stream, dictionary.data(), static_cast<uInt>(dictionary.size()));
  stream.next_in = input_of(deflated);
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = plain.data();
  stream.avail_out = static_cast<uInt>(plain.size());
  const int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
}

uint64_t most_inflated_bytes(size_t deflated_bytes) {
  constexpr uint64_t kMostRatio = 1032;  // a code of two bits for 258 bytes
  return kMostRatio * deflated_bytes;
}

}  // namespace penstock
