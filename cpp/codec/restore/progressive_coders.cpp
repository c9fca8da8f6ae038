#include "codec/restore/progressive_coders.h"

namespace penstock {
namespace {

/// Those of a block's coefficients that a scan is about.
uint64_t in_scan(uint64_t mask, const Scan& scan) {
  return mask >> scan.first_position << scan.first_position &
         ~uint64_t{0} >> (63 - scan.last_position);
}

/// The refiners of common encoders end a run before its corrections could exceed this number.
constexpr int kMostRunCorrections = 937;
static_assert(kMostRunCorrections + 64 <= WaitingBits::kCapacity);

}  // namespace

void AcCoder::encode(EntropyWriter& writer, int, const int16_t* block, uint64_t mask) {
  int last = scan_.first_position - 1;
  for (uint64_t left = in_scan(mask, scan_); left != 0; left &= left - 1) {
    const int position = std::countr_zero(left);
    const int coefficient = block[kNaturalOrder[position]];
    const int magnitude = std::abs(coefficient) >> scan_.low_bit;
    if (magnitude == 0) continue;
    run_.write(writer, symbols_, codes);
    int run = position - last - 1;
    last = position;
    for (; run > 15; run -= 16) symbols_.put(writer, codes, kZeroRunSymbol);
    symbols_.put_coefficient(writer, codes, run, coefficient < 0 ? -magnitude : magnitude);
  }
  if (last == scan_.last_position) return;
  run_.add_block();
  if (run_.blocks() == BlockRun::kMostBlocks) run_.write(writer, symbols_, codes);
}

void AcRefiner::encode(EntropyWriter& writer, int, const int16_t* block, uint64_t mask) {
  const uint64_t present = in_scan(mask, scan_);
  int last_new = -1;  // position of the last coefficient that this scan is the first to tell
  for (uint64_t left = present; left != 0; left &= left - 1) {
    const int position = std::countr_zero(left);
    if (std::abs(block[kNaturalOrder[position]]) >> scan_.low_bit == 1) last_new = position;
  }

  WaitingBits corrections;  // of this block, since its last code
  int zeros = 0;            // since then
  int next = scan_.first_position;
  for (uint64_t left = present; left != 0; left &= left - 1) {
    const int position = std::countr_zero(left);
    const int coefficient = block[kNaturalOrder[position]];
    const int magnitude = std::abs(coefficient) >> scan_.low_bit;
    if (magnitude == 0) continue;
    zeros += position - next;
    next = position + 1;
    for (; zeros > 15 && position <= last_new; zeros -= 16) {
      write_run(writer);
      symbols_.put(writer, codes, kZeroRunSymbol);
      corrections.write(writer);
    }
    if (magnitude > 1) {
      corrections.add(magnitude & 1);
      continue;
    }
    write_run(writer);
    symbols_.put(writer, codes, zeros << 4 | 1, {1, coefficient < 0 ? 0u : 1u});
    corrections.write(writer);
    zeros = 0;
  }
  zeros += scan_.last_position + 1 - next;
  if (zeros == 0 && corrections.count() == 0) return;
  run_.add_block();
  run_corrections_.append(corrections);
  if (run_.blocks() == BlockRun::kMostBlocks || run_corrections_.count() > kMostRunCorrections)
    write_run(writer);
}

}  // namespace penstock
