#include "codec/restore/literals.h"

#include <algorithm>

#include "codec/entropy_bytes.h"
#include "codec/jpeg_tables.h"
#include "codec/markers.h"

namespace penstock {
namespace {

constexpr size_t kSoiBytes = 2;

/// Where the entropy-coded data that begins at `at` ends.
size_t skip_entropy(std::span<const uint8_t> file, size_t at) {
  const uint8_t* const end = file.data() + file.size();
  const uint8_t* next = file.data() + at;
  for (;;) {
    next = PENSTOCK_PICK(entropy_bytes).find_marker(next, end);
    if (end - next < 2 || !is_restart(next[1])) return next - file.data();
    next += 2;
  }
}

const char* why_not_same_frame(const JpegHeader& header, const CoefficientImage& image) {
  if (header.route == Route::pillow) return header.reason;
  bool same = header.height == image.height && header.width == image.width &&
              header.components == image.components;
  for (int c = 0; same && c < image.components; ++c)
    same = header.component[c].horizontal == image.component[c].horizontal &&
           header.component[c].vertical == image.component[c].vertical;
  return same ? nullptr : "not the frame of these coefficients";
}

}  // namespace

const char* take_literals(std::vector<uint8_t>& literals, std::span<const uint8_t> file) {
  literals.clear();
  if (file.size() < kSoiBytes) return "not a JPEG";
  size_t copied = 0;
  size_t at = kSoiBytes;
  for (;;) {
    uint8_t marker = 0;
    std::span<const uint8_t> body;
    if (const char* problem = next_marker(marker, file, at)) return problem;
    if (marker == kEoi) break;
    if (const char* problem = next_body(body, file, at)) return problem;
    if (marker != kSos) continue;
    literals.insert(literals.end(), file.begin() + copied, file.begin() + at);
    copied = at = skip_entropy(file, at);
  }
  literals.insert(literals.end(), file.begin() + copied, file.end());
  return nullptr;
}

const char* write_file(GrowingFile& file, std::span<const uint8_t> literals,
                       const CoefficientImage& image, bool pad_with_ones, ScanScratch& scratch) {
  constexpr int kMostScans = 64;  // or a short section could keep us busy for hours
  const JpegHeader header = read_jpeg_header(literals);
  if (const char* problem = why_not_same_frame(header, image)) return problem;

  JpegHeader tables;  // as they are while the scans go by
  int scans = 0;
  size_t copied = 0;
  size_t at = kSoiBytes;
  for (;;) {
    uint8_t marker = 0;
    std::span<const uint8_t> body;
    if (const char* problem = next_marker(marker, literals, at)) return problem;
    if (marker == kEoi) break;
    if (const char* problem = next_body(body, literals, at)) return problem;
    if (marker == kDht && !read_huffman_tables(tables, body)) return "bad Huffman table segment";
    if (marker == kDri && !read_restart_interval(tables, body))
      return "bad restart interval segment";
    if (marker != kSos) continue;

    Scan scan;
    if (++scans > kMostScans) return "too many scans";
    if (const char* problem = read_scan(scan, body, header)) return problem;
    file.append(literals.subspan(copied, at - copied));
    copied = at;
    if (const char* problem = encode_scan(file, image, scan, tables, pad_with_ones, scratch))
      return problem;
  }
  file.append(literals.subspan(copied));
  return nullptr;
}

}  // namespace penstock
