#include "codec/jpeg_route.h"

#include "codec/decode_mcus.h"
#include "codec/jpeg_tables.h"
#include "codec/reconstruct.h"

namespace penstock {
namespace {

/// Why Pillow should judge this file, or nullptr.
const char* why_not_libjpeg(const JpegHeader& header, const AppFacts& facts,
                            const ScanFacts& scan) {
  int blocks = 0;
  for (int c = 0; c < header.components; ++c) {
    const JpegComponent& component = header.component[c];
    if (!header.quant_present[component.quant_table]) return "missing quantisation table";
    blocks += component.horizontal * component.vertical;
  }
  if (blocks > Mcu::kMaxBlocks && scan.holds_all) return "too many blocks in a unit";
  if (header.components == 3 && !facts.jfif && facts.adobe && facts.adobe_transform > 1)
    return "unknown Adobe transform";
  return nullptr;
}

/// libjpeg's guess of the colour space.
bool is_ycbcr(const JpegHeader& header, const AppFacts& facts) {
  if (facts.jfif) return true;
  if (facts.adobe) return facts.adobe_transform == 1;
  const JpegComponent* component = header.component;
  return component[0].id != 'R' || component[1].id != 'G' || component[2].id != 'B';
}

const char* why_codes_unusable(const JpegHeader& header) {
  for (int c = 0; c < header.components; ++c) {
    const JpegComponent& component = header.component[c];
    if (component.dc_table > 3 || component.ac_table > 3) return "odd Huffman table number";
    const HuffmanSpec& dc = header.dc[component.dc_table];
    const HuffmanSpec& ac = header.ac[component.ac_table];
    if (!dc.present || !ac.present) return "missing Huffman table";
    if (!is_usable(dc, true) || !is_usable(ac, false)) return "bad Huffman table";
  }
  return nullptr;
}

/// Why our own inverse DCT and colours are not for this file, or nullptr.
const char* why_not_our_pixels(const JpegHeader& header, const AppFacts& facts) {
  if (header.components == 1) return nullptr;
  if (!is_ycbcr(header, facts)) return "RGB";
  const JpegComponent* component = header.component;
  if (component[0].id == component[1].id || component[1].id == component[2].id ||
      component[0].id == component[2].id)
    return "repeated component";
  if (!is_sampling_usable(header)) return "odd sampling";
  return nullptr;
}

/// Why our own decoder of sequential files does not take this one, or nullptr.
const char* why_not_baseline(const JpegHeader& header, const AppFacts& facts,
                             const ScanFacts& scan) {
  if (header.progressive) return "progressive";
  if (header.arithmetic) return "arithmetic coding";
  if (!scan.only_one) return "several scans";
  if (!scan.regular) return "odd scan";
  if (scan.restarts && header.restart_interval == 0) return "unexpected restart markers";
  if (const char* reason = why_codes_unusable(header)) return reason;
  return why_not_our_pixels(header, facts);
}

}  // namespace

bool is_sampling_usable(const JpegHeader& header) {
  if (header.components == 1) return true;
  const JpegComponent& luma = header.component[0];
  if (luma.horizontal != header.max_horizontal || luma.vertical != header.max_vertical)
    return false;
  for (int c = 1; c < 3; ++c) {
    const JpegComponent& chroma = header.component[c];
    if (luma.horizontal % chroma.horizontal != 0 || luma.vertical % chroma.vertical != 0 ||
        !can_upsample(luma.horizontal / chroma.horizontal, luma.vertical / chroma.vertical))
      return false;
  }
  return true;
}

void choose_route(JpegHeader& header, const AppFacts& facts, const ScanFacts& scan) {
  header.route = Route::pillow;
  header.reason = why_not_libjpeg(header, facts, scan);
  if (header.reason != nullptr) return;
  header.route = Route::libjpeg;
  header.is_own_progressive =
      header.progressive && !header.arithmetic && why_not_our_pixels(header, facts) == nullptr;
  header.reason = why_not_baseline(header, facts, scan);
  if (header.reason != nullptr) return;
  header.route = Route::baseline;
  header.reason = "";
}

}  // namespace penstock
