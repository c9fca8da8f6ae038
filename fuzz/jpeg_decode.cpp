// The decoders on arbitrary bytes: what ours calls ok must be what libjpeg decodes.
#include "codec/jpeg_decode.h"

#include <cstdlib>

#include "base/cpu.h"
#include "chosen_region.h"

namespace {

using namespace penstock;

constexpr int64_t kMaxPixels = 1 << 16;  // larger images only cost time

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
        decode_baseline(expected, bytes, header, wanted, scratch, {scale}).status;
    for (const Isa isa : supported_isas()) {
      force_isa(isa);
      Collect sink(whole);
      const DecodeResult result = decode_baseline(sink, bytes, header, wanted, scratch, {scale});
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
  const Region region = choose_region(header.height, header.width, bytes);
  const Region whole_region{0, 0, region.height, region.width};

  Collect reference(region);
  const DecodeResult whole = decode_libjpeg_whole(reference, bytes, scratch);
  const auto check = [&](const DecodeResult& result, const Collect& sink) {
    if (result.status != DecodeStatus::ok) return;
    if (whole.status == DecodeStatus::failed || sink.bytes != reference.bytes) std::abort();
  };

  Collect part(whole_region);
  check(decode_libjpeg(part, bytes, header, region, scratch), part);
  if (header.is_own_progressive) {
    for (const Isa isa : supported_isas()) {
      force_isa(isa);
      Collect ours(whole_region);
      check(decode_progressive(ours, bytes, header, region, scratch), ours);
    }
  }
  if (header.route != Route::baseline) return 0;
  check_reduced(bytes, header, region, scratch);
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    Collect ours(whole_region);
    check(decode_baseline(ours, bytes, header, region, scratch), ours);
    RowStarts rows;
    for (const Region& one : {Region{0, 0, header.height, 1}, region, region}) {
      Collect again({0, 0, one.height, one.width});
      const DecodeResult result =
          decode_baseline(again, bytes, header, one, scratch, {}, false, &rows);
      if (one == region) check(result, again);
    }
    // Those of another file must not lead outside.
    for (RowStart& row : rows) {
      row.source = row.source * 31 % (static_cast<uint32_t>(size) + 64);
      row.bit = row.bit * 37 % (static_cast<uint32_t>(size) * 8 + 512);
    }
    Collect astray(whole_region);
    (void)decode_baseline(astray, bytes, header, region, scratch, {}, false, &rows);
  }
  return 0;
}
