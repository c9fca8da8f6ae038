#include "codec/jpeg_header.h"

#include <algorithm>

#include "codec/app_segments.h"
#include "codec/entropy_bytes.h"
#include "codec/jpeg_route.h"
#include "codec/jpeg_tables.h"
#include "codec/markers.h"

namespace penstock {
namespace {

constexpr int kMaxSide = 65500;             // libjpeg's limit
constexpr int64_t kMaxPixels = 89'478'485;  // beyond this Pillow warns or refuses

/// Reads one header; every step returns nullptr or the reason why Pillow should judge the file.
class HeaderReader {
 public:
  explicit HeaderReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  JpegHeader read() {
    const char* refusal = read_to_first_scan();
    if (refusal == nullptr) refusal = check_scans_to_end();
    header_.orientation = facts_.orientation;
    if (refusal == nullptr) {
      choose_route(header_, facts_, scan_);
    } else {
      header_.route = Route::pillow;
      header_.reason = refusal;
    }
    return header_;
  }

 private:
  const char* read_to_first_scan();
  const char* read_segment(uint8_t marker, std::span<const uint8_t> body);
  const char* read_frame(uint8_t marker, std::span<const uint8_t> body);
  const char* read_scan(std::span<const uint8_t> body);
  const char* check_scans_to_end();

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  JpegHeader header_;
  AppFacts facts_;
  bool saw_frame_ = false;
  ScanFacts scan_;
};

const char* HeaderReader::read_to_first_scan() {
  if (bytes_.size() < 3 || bytes_[0] != 0xFF || bytes_[1] != kSoi || bytes_[2] != 0xFF)
    return "not a JPEG";
  at_ = 2;
  for (;;) {
    uint8_t marker = 0;
    if (const char* refusal = next_marker(marker, bytes_, at_)) return refusal;
    const bool known = is_frame(marker) || marker == kDht || marker == kDac || marker == kSos ||
                       marker == kDqt || marker == kDri || marker == kCom ||
                       (marker >= kApp0 && marker <= kApp15);
    if (!known) return "unusual marker";
    std::span<const uint8_t> body;
    if (const char* refusal = next_body(body, bytes_, at_)) return refusal;
    if (const char* refusal = read_segment(marker, body)) return refusal;
    if (marker == kSos) return nullptr;
  }
}

const char* HeaderReader::read_segment(uint8_t marker, std::span<const uint8_t> body) {
  if (is_frame(marker)) return read_frame(marker, body);
  if (marker >= kApp0 && marker <= kApp15) return read_app_segment(facts_, marker - kApp0, body);
  switch (marker) {
    case kDht:
      return read_huffman_tables(header_, body) ? nullptr : "bad Huffman table segment";
    case kDqt:
      return read_quant_tables(header_, body) ? nullptr : "bad quantisation table segment";
    case kDri:
      return read_restart_interval(header_, body) ? nullptr : "bad restart interval segment";
    case kDac:
      return is_valid_conditioning(body) ? nullptr : "bad arithmetic coding segment";
    case kSos:
      return read_scan(body);
    default:
      return nullptr;
  }
}

const char* HeaderReader::read_frame(uint8_t marker, std::span<const uint8_t> body) {
  constexpr size_t kFixedBytes = 6;
  if (saw_frame_) return "more than one frame";
  saw_frame_ = true;
  if (body.size() < kFixedBytes) return "bad frame segment";
  header_.progressive = marker == kSof2 || marker == kSof10;
  header_.arithmetic = marker == kSof9 || marker == kSof10;
  header_.precision = body[0];
  header_.height = body[1] << 8 | body[2];
  header_.width = body[3] << 8 | body[4];
  header_.components = body[5];
  if (header_.precision != 8) return "not 8 bit";
  if (header_.components != 1 && header_.components != 3)
    return "neither gray nor three components";
  if (body.size() != kFixedBytes + 3 * header_.components) return "bad frame segment";
  if (header_.height < 1 || header_.width < 1) return "empty frame";
  if (header_.height > kMaxSide || header_.width > kMaxSide ||
      int64_t{header_.height} * header_.width > kMaxPixels)
    return "very large frame";
  for (int c = 0; c < header_.components; ++c) {
    const uint8_t* spec = body.data() + kFixedBytes + 3 * c;
    JpegComponent& component = header_.component[c];
    component.id = spec[0];
    component.horizontal = spec[1] >> 4;
    component.vertical = spec[1] & 15;
    component.quant_table = spec[2];
    if (component.horizontal < 1 || component.horizontal > 4 || component.vertical < 1 ||
        component.vertical > 4 || component.quant_table > 3)
      return "bad frame segment";
    // A scan of one component has blocks in plain order, whatever its factors.
    if (header_.components == 1) component.horizontal = component.vertical = 1;
    header_.max_horizontal = std::max<int>(header_.max_horizontal, component.horizontal);
    header_.max_vertical = std::max<int>(header_.max_vertical, component.vertical);
  }
  return nullptr;
}

const char* HeaderReader::read_scan(std::span<const uint8_t> body) {
  if (!saw_frame_) return "scan before frame";
  const size_t count = body.empty() ? 0 : body[0];
  if (count < 1 || count > 4 || body.size() != 1 + 2 * count + 3) return "bad scan segment";
  scan_.holds_all = count == static_cast<size_t>(header_.components);
  bool in_order = scan_.holds_all;
  for (int c = 0; in_order && c < header_.components; ++c) {
    const uint8_t* spec = body.data() + 1 + 2 * c;
    in_order = spec[0] == header_.component[c].id;
    header_.component[c].dc_table = spec[1] >> 4;
    header_.component[c].ac_table = spec[1] & 15;
  }
  const uint8_t* progression = body.data() + 1 + 2 * count;
  scan_.regular = in_order && progression[0] == 0 && progression[1] == 63 && progression[2] == 0;
  header_.entropy_offset = at_;
  return nullptr;
}

/// Walks over the entropy data to EOI. A second scan is only legal where libjpeg expects one.
const char* HeaderReader::check_scans_to_end() {
  const auto find_marker = PENSTOCK_PICK(entropy_bytes).find_marker;
  const uint8_t* const begin = bytes_.data();
  const uint8_t* const end = begin + bytes_.size();
  scan_.only_one = !header_.progressive && scan_.holds_all;
  for (;;) {
    at_ = find_marker(begin + at_, end) - begin;
    if (bytes_.size() - at_ < 2) return "no end marker";
    const uint8_t marker = bytes_[at_ + 1];
    if (is_restart(marker)) {
      scan_.restarts = true;
      at_ += 2;
      continue;
    }
    if (marker == kEoi) break;
    if (scan_.only_one) return "bytes after the scan";
    const bool known = marker == kDht || marker == kDac || marker == kSos || marker == kDqt ||
                       marker == kDri || marker == kCom || (marker >= kApp0 && marker <= kApp15);
    if (!known) return "unusual marker";
    at_ += 2;
    std::span<const uint8_t> body;
    if (const char* refusal = next_body(body, bytes_, at_)) return refusal;
  }
  header_.entropy_end = at_;
  return nullptr;
}

}  // namespace

JpegHeader read_jpeg_header(std::span<const uint8_t> bytes) { return HeaderReader(bytes).read(); }

}  // namespace penstock
