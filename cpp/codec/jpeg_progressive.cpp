#include <algorithm>
#include <cstring>
#include <limits>

#include "codec/decode_state.h"
#include "codec/entropy_bytes.h"
#include "codec/entropy_segments.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_tables.h"
#include "codec/markers.h"
#include "codec/progressive_scans.h"
#include "codec/scan_decoder.h"
#include "codec/unit_rows.h"

namespace penstock {
namespace {

/// Coefficients of a region beyond this are not kept for the next image.
constexpr size_t kMostKept = size_t{64} << 20;

constexpr int8_t kUnknown = -1;

int divide_up(int64_t value, int divisor) {
  return static_cast<int>((value + divisor - 1) / divisor);
}

/// Reads the scans of a file, from its first marker to its last, into blocks. Every function
/// returns nullptr, or what libjpeg should judge.
class ScanReader {
 public:
  ScanReader(std::span<const uint8_t> bytes, const JpegHeader& header,
             const ProgressiveBlocks (&blocks)[3], DecodeState& state)
      : bytes_(bytes), header_(header), blocks_(blocks), state_(state) {
    for (auto& component : low_) std::fill(std::begin(component), std::end(component), kUnknown);
  }

  const char* run();

 private:
  const char* read_scan(std::span<const uint8_t> body, const uint8_t* begin, const uint8_t* end);
  const char* choose_components(ProgressiveScan& scan, std::span<const uint8_t> body);
  const char* follow_progression(const ProgressiveScan& scan, int high);
  const char* choose_tables(const ProgressiveScan& scan, int high);
  const char* decode(ProgressiveScan& scan, DecodeUnits decode_units, EntropySegments segments);
  const uint8_t* end_of_scan(const uint8_t* begin) const;

  std::span<const uint8_t> bytes_;
  const JpegHeader& header_;
  const ProgressiveBlocks (&blocks_)[3];
  DecodeState& state_;
  JpegHeader tables_;   // the Huffman codes and the restart interval that hold now
  int8_t low_[3][64];   // the lowest bit that is known of each coefficient
  int number_[3] = {};  // which components the scan has, and their tables
  int dc_table_[3] = {};
  int ac_table_ = 0;
  bool saw_scan_ = false;
};

const char* ScanReader::run() {
  size_t at = 2;
  for (;;) {
    uint8_t marker = 0;
    if (const char* problem = next_marker(marker, bytes_, at)) return problem;
    if (marker == kEoi) break;
    std::span<const uint8_t> body;
    if (const char* problem = next_body(body, bytes_, at)) return problem;
    if (marker == kDht && !read_huffman_tables(tables_, body)) return "bad Huffman table segment";
    if (marker == kDri && !read_restart_interval(tables_, body))
      return "bad restart interval segment";
    if (marker == kDqt && saw_scan_) return "quantisation tables between scans";
    if (marker != kSos) continue;
    saw_scan_ = true;
    const uint8_t* const begin = bytes_.data() + at;
    const uint8_t* const end = end_of_scan(begin);
    if (const char* problem = read_scan(body, begin, end)) return problem;
    at = static_cast<size_t>(end - bytes_.data());
  }
  for (int c = 0; c < header_.components; ++c)
    if (!std::all_of(low_[c], low_[c] + 64, [](int8_t low) { return low == 0; }))
      return "incomplete progression";
  return nullptr;
}

const uint8_t* ScanReader::end_of_scan(const uint8_t* begin) const {
  const auto find_marker = PENSTOCK_PICK(entropy_bytes).find_marker;
  const uint8_t* const end = bytes_.data() + bytes_.size();
  const uint8_t* marker = find_marker(begin, end);
  while (end - marker >= 2 && is_restart(marker[1])) marker = find_marker(marker + 2, end);
  return marker;
}

const char* ScanReader::read_scan(std::span<const uint8_t> body, const uint8_t* begin,
                                  const uint8_t* end) {
  const size_t count = body.empty() ? 0 : body[0];
  if (count < 1 || count > 3 || body.size() != 1 + 2 * count + 3) return "bad scan segment";
  const uint8_t* const progression = body.data() + 1 + 2 * count;
  ProgressiveScan scan;
  scan.components = static_cast<int>(count);
  scan.first = progression[0];
  scan.last = progression[1];
  scan.low = progression[2] & 15;
  const int high = progression[2] >> 4;
  if (const char* problem = choose_components(scan, body)) return problem;
  if (const char* problem = follow_progression(scan, high)) return problem;
  if (const char* problem = choose_tables(scan, high)) return problem;
  for (int i = 0; i < scan.components; ++i)
    scan.component[i].dc = &state_.progressive.dc[dc_table_[i]];
  scan.ac = &state_.progressive.ac;
  const ScanLoops& loops = PENSTOCK_PICK(scan_loops);
  const bool is_dc = scan.first == 0;
  const DecodeUnits decode_units = is_dc ? (high == 0 ? loops.dc_first : loops.dc_refine)
                                         : (high == 0 ? loops.ac_first : loops.ac_refine);
  const bool restarts = tables_.restart_interval > 0;
  if (!restarts && PENSTOCK_PICK(entropy_bytes).find_marker(begin, end) != end)
    return "unexpected restart markers";
  return decode(scan, decode_units, EntropySegments({begin, end}, restarts, state_.unstuffed));
}

const char* ScanReader::choose_components(ProgressiveScan& scan, std::span<const uint8_t> body) {
  const bool alone = scan.components == 1;
  for (int i = 0; i < scan.components; ++i) {
    const uint8_t* const spec = body.data() + 1 + 2 * i;
    int c = 0;
    while (c < header_.components && header_.component[c].id != spec[0]) ++c;
    // In a scan of several, libjpeg takes them in the order of the scan; encoders write them in
    // that of the frame.
    if (c == header_.components || (i > 0 && c <= number_[i - 1])) return "odd scan";
    const JpegComponent& component = header_.component[c];
    number_[i] = c;
    dc_table_[i] = spec[1] >> 4;
    ac_table_ = spec[1] & 15;
    if (dc_table_[i] > 3 || ac_table_ > 3) return "odd Huffman table number";
    scan.component[i].blocks = &blocks_[c];
    scan.component[i].horizontal = alone ? 1 : component.horizontal;
    scan.component[i].vertical = alone ? 1 : component.vertical;
    scan.component[i].dc_limit = largest_dc(header_.quant[component.quant_table][0]);
  }
  const int unit_width = 8 * header_.max_horizontal;
  scan.units_across = alone ? blocks_[number_[0]].across : divide_up(header_.width, unit_width);
  return nullptr;
}

/// A scan brings the first bits of coefficients of which nothing is known, or the next bit.
const char* ScanReader::follow_progression(const ProgressiveScan& scan, int high) {
  constexpr int kMostLow = 13;
  const bool is_dc = scan.first == 0;
  if (scan.last > 63 || scan.first > scan.last || scan.low > kMostLow) return "odd progression";
  if (is_dc ? scan.last != 0 : scan.components != 1) return "odd progression";
  if (high != 0 && high != scan.low + 1) return "odd progression";
  for (int i = 0; i < scan.components; ++i) {
    int8_t* const low = low_[number_[i]];
    if (!is_dc && low[0] == kUnknown) return "odd progression";
    for (int k = scan.first; k <= scan.last; ++k) {
      if (low[k] != (high == 0 ? kUnknown : high)) return "odd progression";
      low[k] = static_cast<int8_t>(scan.low);
    }
  }
  return nullptr;
}

const char* ScanReader::choose_tables(const ProgressiveScan& scan, int high) {
  if (scan.first > 0) {
    const HuffmanSpec& spec = tables_.ac[ac_table_];
    if (!spec.present || !is_usable(spec, false)) return "missing or bad Huffman table";
    build_symbol_table(state_.progressive.ac, spec);
    return nullptr;
  }
  for (int i = 0; high == 0 && i < scan.components; ++i) {
    const HuffmanSpec& spec = tables_.dc[dc_table_[i]];
    if (!spec.present || !is_usable(spec, true)) return "missing or bad Huffman table";
    build_dc_table(state_.progressive.dc[dc_table_[i]], spec);
  }
  return nullptr;
}

const char* ScanReader::decode(ProgressiveScan& scan, DecodeUnits decode_units,
                               EntropySegments segments) {
  const bool alone = scan.components == 1;
  const int unit_height = 8 * header_.max_vertical;
  const int down = alone ? blocks_[number_[0]].down : divide_up(header_.height, unit_height);
  const int64_t units = int64_t{scan.units_across} * down;
  const int64_t interval =
      tables_.restart_interval > 0 ? tables_.restart_interval : std::numeric_limits<int64_t>::max();
  for (int64_t done = 0; done < units;) {
    const int64_t run = std::min(units - done, interval);
    if (!decode_units(segments.cursor, scan, done, run)) return "irregular entropy data";
    done += run;
    if (done == units) break;
    scan.eob_run = 0;
    if (const char* problem = segments.next()) return problem;
  }
  if (segments.has_bytes_left() || !segments.at_end()) return "bytes left over after a scan";
  return nullptr;
}

/// Memory for the blocks of all components.
void begin_blocks(ProgressiveBlocks (&blocks)[3], const JpegHeader& header, const UnitRows& rows,
                  DecodeState& state) {
  const RegionPlan& plan = rows.plan();
  size_t masks = 0;
  size_t elements = 0;
  for (int c = 0; c < header.components; ++c) {
    const JpegComponent& component = header.component[c];
    ProgressiveBlocks& own = blocks[c];
    own.across = divide_up(int64_t{header.width} * component.horizontal, 8 * header.max_horizontal);
    own.down = divide_up(int64_t{header.height} * component.vertical, 8 * header.max_vertical);
    masks += static_cast<size_t>(own.across) * static_cast<size_t>(own.down);
    if (!rows.shows(c)) continue;
    own.row_size = rows.row_size(c);
    own.first_row = plan.first_unit_row * component.vertical;
    own.end_row = plan.end_unit_row * component.vertical;
    own.first_column = plan.first_unit_column * component.horizontal;
    own.end_column = plan.end_unit_column * component.horizontal;
    elements += own.row_size * static_cast<size_t>(own.end_row - own.first_row);
  }
  uint64_t* mask = state.nonzero.reserve<uint64_t>(masks);
  std::memset(mask, 0, masks * sizeof *mask);
  int16_t* values = state.coefficients.reserve<int16_t>(elements);
  std::memset(values, 0, elements * sizeof *values);
  for (int c = 0; c < header.components; ++c) {
    blocks[c].nonzero = mask;
    mask += static_cast<size_t>(blocks[c].across) * static_cast<size_t>(blocks[c].down);
    blocks[c].values = values;
    values += blocks[c].row_size * static_cast<size_t>(blocks[c].end_row - blocks[c].first_row);
  }
}

}  // namespace

DecodeResult decode_progressive(RowSink& sink, std::span<const uint8_t> bytes,
                                const JpegHeader& header, const Region& region,
                                DecodeScratch& scratch, bool luma_alone) {
  DecodeState& state = scratch.state();
  UnitRows rows(sink, header, region, {}, luma_alone, state.region);
  ProgressiveBlocks blocks[3];
  begin_blocks(blocks, header, rows, state);
  const char* const problem = ScanReader(bytes, header, blocks, state).run();
  if (problem == nullptr) {
    const RegionPlan& plan = rows.plan();
    for (int row = plan.first_unit_row; row < plan.end_unit_row; ++row) {
      BlockRows coefficients[3];
      for (int c = 0; c < header.components; ++c) {
        const auto above =
            static_cast<size_t>((row - plan.first_unit_row) * header.component[c].vertical);
        coefficients[c] = {blocks[c].values + above * blocks[c].row_size, blocks[c].row_size};
      }
      rows.take(row, coefficients);
    }
  }
  if (state.coefficients.capacity() > kMostKept) state.coefficients = Buffer();
  if (problem != nullptr) return {DecodeStatus::irregular, problem};
  return {};
}

}  // namespace penstock
