#include "codec/restore/encode_scan.h"

#include "codec/jpeg_tables.h"
#include "codec/restore/progressive_coders.h"
#include "codec/restore/sequential_coder.h"
#include "codec/restore/write_units.h"

namespace penstock {
namespace {

const char* why_not(const HuffmanSpec& spec, bool dc) {
  if (!spec.present) return "missing Huffman table";
  return is_usable(spec, dc) ? nullptr : "bad Huffman table";
}

const char* prepare(HuffmanCodes& codes, const HuffmanSpec& spec, bool dc) {
  if (const char* problem = why_not(spec, dc)) return problem;
  build_huffman_codes(codes, spec);
  return nullptr;
}

const char* prepare_dc(HuffmanCodes (&codes)[3], const Scan& scan, const JpegHeader& tables) {
  for (int i = 0; i < scan.components; ++i)
    if (const char* problem = prepare(codes[i], tables.dc[scan.component[i].dc_table], true))
      return problem;
  return nullptr;
}

const char* prepare_ac(AcCodes (&codes)[3], const Scan& scan, const JpegHeader& tables) {
  for (int i = 0; i < scan.components; ++i) {
    const HuffmanSpec& spec = tables.ac[scan.component[i].ac_table];
    if (const char* problem = why_not(spec, false)) return problem;
    build_ac_codes(codes[i], spec);
  }
  return nullptr;
}

}  // namespace

const char* encode_scan(GrowingFile& file, const CoefficientImage& image, const Scan& scan,
                        const JpegHeader& tables, bool pad_with_ones, ScanScratch& scratch) {
  const ScanWalk walk = plan_walk(image, scan, scratch.masks);
  const auto write = [&](auto& coder) {
    return UnitWriter(file, coder, tables.restart_interval, pad_with_ones, scratch.unstuffed)
        .write(walk);
  };
  if (!scan.progressive) {
    SequentialCoder coder;
    if (const char* problem = prepare_dc(coder.dc, scan, tables)) return problem;
    if (const char* problem = prepare_ac(coder.ac, scan, tables)) return problem;
    return write(coder);
  }
  if (scan.holds_dc() && scan.refines()) {
    DcRefiner coder(scan.low_bit);
    return write(coder);
  }
  if (scan.holds_dc()) {
    DcCoder coder(scan.low_bit);
    if (const char* problem = prepare_dc(coder.codes, scan, tables)) return problem;
    return write(coder);
  }
  const HuffmanSpec& spec = tables.ac[scan.component[0].ac_table];
  if (scan.refines()) {
    AcRefiner coder(scan);
    if (const char* problem = prepare(coder.codes, spec, false)) return problem;
    return write(coder);
  }
  AcCoder coder(scan);
  if (const char* problem = prepare(coder.codes, spec, false)) return problem;
  return write(coder);
}

}  // namespace penstock
