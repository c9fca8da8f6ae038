#include "codec/scan_decoder.h"

#include <algorithm>
#include <limits>

namespace penstock {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// The bytes of the scan that hold `part`.
std::span<const uint8_t> bytes_of(const ScanPart& part, std::span<const uint8_t> bytes,
                                  const JpegHeader& header) {
  const auto scan =
      bytes.subspan(header.entropy_offset, header.entropy_end - header.entropy_offset);
  size_t end = scan.size();
  if (part.end != nullptr && part.end->source < end) {
    const bool stuffed = scan[part.end->source] == 0xFF;
    end = std::min(end, size_t{part.end->source} + (stuffed ? 2 : 1));
  }
  const size_t begin = std::min(end, size_t{part.begin.source});
  return scan.subspan(begin, end - begin);
}

}  // namespace

int largest_dc(int quantiser) {
  constexpr int kMaxDequantisedDc = 8191;  // eight times what a real image can have
  constexpr int kMaxDc = 32767;
  return std::min(kMaxDc, kMaxDequantisedDc / std::max(1, quantiser));
}

ScanDecoder::ScanDecoder(std::span<const uint8_t> bytes, const JpegHeader& header,
                         const HuffmanTables& tables, Buffer& unstuffed, const ScanPart& part)
    : header_(header),
      segments_(bytes_of(part, bytes, header), header.restart_interval > 0, unstuffed),
      units_to_restart_(units_in_segment()),
      first_source_(part.begin.source),
      first_bit_(part.begin.bit / 8 * 8),
      unstuffed_(segments_.cursor.reader.next) {
  if (part.begin.bit > 0) go_to(part.begin);
  for (int c = 0; c < header.components; ++c) {
    const JpegComponent& component = header.component[c];
    for (int i = 0; i < component.horizontal * component.vertical; ++i) {
      McuBlock& block = mcu_.block[mcu_.blocks++];
      block.dc = &tables.dc(component.dc_table);
      block.ac = &tables.ac(component.ac_table);
      block.component = c;
      block.dc_limit = largest_dc(header.quant[component.quant_table][0]);
      block.unit_step = component.horizontal * 64;
    }
  }
}

int64_t ScanDecoder::units_in_segment() const {
  return header_.restart_interval > 0 ? header_.restart_interval : kNever;
}

void ScanDecoder::set_target(int component, int row, int16_t* coefficients, int last_wanted) {
  const int horizontal = header_.component[component].horizontal;
  int block = row * horizontal;
  for (int c = 0; c < component; ++c)
    block += header_.component[c].horizontal * header_.component[c].vertical;
  for (int i = 0; i < horizontal; ++i) {
    mcu_.block[block + i].coefficients = coefficients + i * 64;
    mcu_.block[block + i].last_wanted = last_wanted;
  }
  wants_all_ &= last_wanted == 63;
}

bool ScanDecoder::find_place(RowStart& here) {
  const EntropyCursor& cursor = segments_.cursor;
  const int64_t bit = cursor.reader.position(unstuffed_);
  stuffed_ += std::count(unstuffed_ + counted_bytes_, unstuffed_ + bit / 8, uint8_t{0xFF});
  counted_bytes_ = bit / 8;
  const int64_t source = first_source_ + counted_bytes_ + stuffed_;
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  if (source > kMost || first_bit_ + bit > kMost) return false;
  here.source = static_cast<uint32_t>(source);
  here.bit = static_cast<uint32_t>(first_bit_ + bit);
  std::copy_n(cursor.dc, 3, here.dc);
  return true;
}

const char* ScanDecoder::go_to(const RowStart& there) {
  EntropyCursor& cursor = segments_.cursor;
  const int64_t bit = there.bit - first_bit_;
  if (bit < 0 || bit / 8 > cursor.end - unstuffed_) return "rows that do not begin where they did";
  cursor.reader = BitReader(unstuffed_ + bit / 8);
  cursor.reader.refill();
  cursor.reader.consume(static_cast<int>(bit % 8));
  std::copy_n(there.dc, 3, cursor.dc);
  return nullptr;
}

const char* ScanDecoder::decode(int64_t units, DecodeMcus decode_mcus) {
  for (int64_t done = 0; done < units;) {
    if (units_to_restart_ == 0) {
      if (const char* problem = segments_.next()) return problem;
      units_to_restart_ = units_in_segment();
    }
    const int64_t run = std::min(units - done, units_to_restart_);
    if (!decode_mcus(segments_.cursor, mcu_, done, run)) return "irregular entropy data";
    done += run;
    units_to_restart_ -= run;
  }
  return nullptr;
}

}  // namespace penstock
