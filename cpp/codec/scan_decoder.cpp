#include "codec/scan_decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "codec/entropy_bytes.h"

namespace penstock {
namespace {

constexpr int kMaxDequantisedDc = 8191;  // eight times what a real image can have
constexpr int kMaxDc = 32767;

static_assert(kBitReaderSlack >= kUnstuffSlack);

}  // namespace

ScanDecoder::ScanDecoder(std::span<const uint8_t> bytes, const JpegHeader& header,
                         const HuffmanTables& tables, Buffer& unstuffed)
    : header_(header),
      source_(bytes.data() + header.entropy_offset),
      source_end_(bytes.data() + header.entropy_end),
      unstuffed_(unstuffed) {
  for (int c = 0; c < header.components; ++c) {
    const JpegComponent& component = header.component[c];
    const int dc_quant = std::max<int>(1, header.quant[component.quant_table][0]);
    for (int i = 0; i < component.horizontal * component.vertical; ++i) {
      McuBlock& block = mcu_.block[mcu_.blocks++];
      block.dc = &tables.dc(component.dc_table);
      block.ac = &tables.ac(component.ac_table);
      block.component = c;
      block.dc_limit = std::min(kMaxDc, kMaxDequantisedDc / dc_quant);
      block.unit_step = component.horizontal * 64;
    }
  }
  unstuffed_.reserve(source_end_ - source_ + kBitReaderSlack);
  begin_segment();
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

void ScanDecoder::begin_segment() {
  const EntropyBytes& entropy = PENSTOCK_PICK(entropy_bytes);
  const bool restarts = header_.restart_interval > 0;
  const uint8_t* end = restarts ? entropy.find_marker(source_, source_end_) : source_end_;
  uint8_t* const begin = unstuffed_.data();
  uint8_t* const unstuffed_end = entropy.unstuff(begin, source_, end);
  std::memset(unstuffed_end, 0, kBitReaderSlack);
  source_ = end;
  cursor_ = EntropyCursor{BitReader(begin), unstuffed_end, {}};
  units_to_restart_ = restarts ? header_.restart_interval : std::numeric_limits<int64_t>::max();
}

const char* ScanDecoder::next_segment() {
  constexpr int kRst0 = 0xD0;
  if (cursor_.reader.position(cursor_.end) <= -8) return "bytes left over before a restart marker";
  if (source_end_ - source_ < 2) return "restart marker missing";
  if (source_[1] != kRst0 + next_restart_) return "restart markers out of order";
  next_restart_ = (next_restart_ + 1) & 7;
  source_ += 2;
  begin_segment();
  return nullptr;
}

const char* ScanDecoder::decode(int64_t units, DecodeMcus decode_mcus) {
  for (int64_t done = 0; done < units;) {
    if (units_to_restart_ == 0) {
      if (const char* problem = next_segment()) return problem;
    }
    const int64_t run = std::min(units - done, units_to_restart_);
    if (!decode_mcus(cursor_, mcu_, done, run)) return "irregular entropy data";
    done += run;
    units_to_restart_ -= run;
  }
  return nullptr;
}

}  // namespace penstock
