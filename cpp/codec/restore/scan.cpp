#include "codec/restore/scan.h"

#include "codec/decode_mcus.h"

namespace penstock {
namespace {

const char* read_components(Scan& scan, std::span<const uint8_t> specs, const JpegHeader& header) {
  bool seen[3] = {};
  int blocks = 0;
  for (int i = 0; i < scan.components; ++i) {
    int index = 0;
    while (index < header.components && header.component[index].id != specs[2 * i]) ++index;
    if (index == header.components || seen[index]) return "a scan of unknown components";
    seen[index] = true;
    blocks += header.component[index].horizontal * header.component[index].vertical;
    scan.component[i] = {index, specs[2 * i + 1] >> 4, specs[2 * i + 1] & 15};
    if (scan.component[i].dc_table > 3 || scan.component[i].ac_table > 3)
      return "odd Huffman table number";
  }
  if (scan.components > 1 && blocks > Mcu::kMaxBlocks) return "too many blocks in a unit";
  return nullptr;
}

bool is_progression(const Scan& scan) {
  constexpr int kMaxLowBit = 13;
  if (scan.low_bit > kMaxLowBit) return false;
  if (scan.refines() && scan.known_bit != scan.low_bit + 1) return false;
  if (scan.holds_dc()) return !scan.holds_ac();
  return scan.components == 1 && scan.first_position <= scan.last_position &&
         scan.last_position <= 63;
}

bool is_whole(const Scan& scan) {
  return scan.first_position == 0 && scan.last_position == 63 && scan.known_bit == 0 &&
         scan.low_bit == 0;
}

}  // namespace

const char* read_scan(Scan& scan, std::span<const uint8_t> body, const JpegHeader& header) {
  if (header.arithmetic) return "arithmetic coding";
  const size_t count = body.empty() ? 0 : body[0];
  if (count < 1 || count > static_cast<size_t>(header.components) || count > 3 ||
      body.size() != 1 + 2 * count + 3)
    return "bad scan segment";
  scan.components = static_cast<int>(count);
  scan.progressive = header.progressive;
  const uint8_t* progression = body.data() + 1 + 2 * count;
  scan.first_position = progression[0];
  scan.last_position = progression[1];
  scan.known_bit = progression[2] >> 4;
  scan.low_bit = progression[2] & 15;
  if (scan.progressive ? !is_progression(scan) : !is_whole(scan)) return "odd scan";
  return read_components(scan, body.subspan(1, 2 * count), header);
}

}  // namespace penstock
