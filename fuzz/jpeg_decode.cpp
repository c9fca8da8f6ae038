// The decoders on arbitrary bytes: what ours calls ok must be what libjpeg decodes.
#include "codec/jpeg_decode.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/cpu.h"

namespace {

using namespace penstock;

constexpr int64_t kMaxPixels = 1 << 16;  // larger images only cost time

class Collect : public RowSink {
 public:
  explicit Collect(const Region& wanted) : wanted_(wanted) {}

  /// Keeps the wanted rectangle of what arrives.
  void take(const PlanarView& rows, int first_row) override {
    for (int y = 0; y < rows.height; ++y) {
      const int row = first_row + y - wanted_.top;
      if (row < 0 || row >= wanted_.height) continue;
      for (int c = 0; c < rows.channels; ++c) {
        const uint8_t* from = rows.row(c, y) + wanted_.left;
        bytes.insert(bytes.end(), from, from + wanted_.width);
      }
    }
  }

  std::vector<uint8_t> bytes;

 private:
  const Region wanted_;
};

/// A region that depends on the input, so that the fuzzer can choose it.
Region choose_region(const JpegHeader& header, const uint8_t* data, size_t size) {
  const auto pick = [&](size_t from_end, int limit) {
    return size > from_end ? data[size - 1 - from_end] % limit : 0;
  };
  Region region;
  region.top = pick(0, header.height);
  region.left = pick(1, header.width);
  region.height = 1 + pick(2, header.height - region.top);
  region.width = 1 + pick(3, header.width - region.left);
  return region;
}

/// Reduced decodes have no oracle but must not depend on the instruction set.
void check_reduced(std::span<const uint8_t> bytes, const JpegHeader& header, const Region& region,
                   DecodeScratch& scratch) {
  for (const int scale : {2, 4, 8}) {
    const int top = region.top / scale, left = region.left / scale;
    const Region wanted{top, left, reduced_size(region.top + region.height, scale) - top,
                        reduced_size(region.left + region.width, scale) - left};
    const Region whole{0, 0, wanted.height, wanted.width};
    force_isa(Isa::scalar);
    Collect expected(whole);
    const DecodeStatus status =
        decode_baseline(expected, bytes, header, wanted, scratch, scale).status;
    for (const Isa isa : supported_isas()) {
      force_isa(isa);
      Collect sink(whole);
      const DecodeResult result = decode_baseline(sink, bytes, header, wanted, scratch, scale);
      if (result.status != status) std::abort();
      if (status == DecodeStatus::ok && sink.bytes != expected.bytes) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  const JpegHeader header = read_jpeg_header(bytes);
  if (header.route == Route::pillow) return 0;
  if (int64_t{header.height} * header.width > kMaxPixels) return 0;
  static DecodeScratch scratch;
  const Region region = choose_region(header, data, size);
  const Region whole_region{0, 0, region.height, region.width};

  Collect reference(region);
  const DecodeResult whole = decode_libjpeg_whole(reference, bytes, scratch);
  const auto check = [&](const DecodeResult& result, const Collect& sink) {
    if (result.status != DecodeStatus::ok) return;
    if (whole.status == DecodeStatus::failed || sink.bytes != reference.bytes) std::abort();
  };

  Collect part(whole_region);
  check(decode_libjpeg(part, bytes, header, region, scratch), part);
  if (header.route != Route::baseline) return 0;
  check_reduced(bytes, header, region, scratch);
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    Collect ours(whole_region);
    check(decode_baseline(ours, bytes, header, region, scratch), ours);
  }
  return 0;
}
