// Restore sections of arbitrary files, and arbitrary bytes as sections, literals and records.
#include "codec/restore/restore.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "codec/jpeg_route.h"
#include "codec/restore/literals.h"
#include "codec/restore/patches.h"
#include "records/jpeg_record.h"

namespace {

using namespace penstock;

constexpr int64_t kMaxPixels = 1 << 14;  // larger images only cost time

/// What is said to be identical must be so, and nothing that was accepted may fail later.
void check_record(std::span<const uint8_t> bytes) {
  RecordScratch scratch;
  const JpegRecord record = encode_record(bytes, scratch);
  if (!record.is_dct) return;
  std::vector<uint8_t> file;
  if (rebuild_file(file, record.dct, scratch) != nullptr) std::abort();
  if (record.is_identical != std::ranges::equal(file, bytes)) std::abort();
}

/// Coefficients of the frame in the header, made of the input.
CoefficientImage make_image(const JpegHeader& header, std::span<const uint8_t> bytes) {
  CoefficientImage image;
  image.height = header.height;
  image.width = header.width;
  image.components = header.components;
  for (int c = 0; c < header.components; ++c) {
    image.component[c].horizontal = header.component[c].horizontal;
    image.component[c].vertical = header.component[c].vertical;
  }
  allocate_blocks(image);
  size_t next = 0;
  for (CoefficientComponent& component : image.component)
    for (int16_t& coefficient : component.coefficients) {
      const int byte = bytes[next++ % bytes.size()];
      if (byte % 4 == 0) coefficient = static_cast<int16_t>((byte - 128) << byte % 9);
    }
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  RestoreSection section;
  if (read_section(section, bytes) == nullptr) {
    std::vector<uint8_t> file(64);
    apply_patches(file, section.patches);
  }
  std::vector<uint8_t> file(64);
  apply_patches(file, bytes);

  RecordScratch scratch;
  rebuild_file(file, bytes, scratch);

  const JpegHeader header = read_jpeg_header(bytes);
  if (header.route == Route::pillow || !is_sampling_usable(header)) return 0;
  if (int64_t{header.height} * header.width > kMaxPixels) return 0;
  check_record(bytes);
  const CoefficientImage image = make_image(header, bytes);
  std::vector<uint8_t> literals;
  if (take_literals(literals, bytes) != nullptr) return 0;
  for (const bool pad_with_ones : {true, false}) {
    GrowingFile target{file};
    ScanScratch scan;
    write_file(target, literals, image, pad_with_ones, scan);
  }
  return 0;
}
