// The four kinds of progressive scans: DC or AC, a first look or one more bit (ITU T.81, annex G).
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>

#include "codec/restore/coefficient_code.h"
#include "codec/restore/scan.h"
#include "codec/zigzag.h"

namespace penstock {

/// The upper bits of the DC coefficients.
class DcCoder {
 public:
  static constexpr bool kTakesMasks = false;

  HuffmanCodes codes[3];

  explicit DcCoder(int low_bit) : low_bit_(low_bit) {}
  void begin_segment() { prediction_[0] = prediction_[1] = prediction_[2] = 0; }
  void end_segment(EntropyWriter&) {}
  const char* problem() const { return symbols_.problem(); }

  void encode(EntropyWriter& writer, int part, const int16_t* block, uint64_t) {
    const int value = block[0] >> low_bit_;
    symbols_.put_difference(writer, codes[part], value - prediction_[part]);
    prediction_[part] = value;
  }

 private:
  const int low_bit_;
  SymbolWriter symbols_;
  int prediction_[3] = {};
};

/// One more bit of the DC coefficients, without any code.
class DcRefiner {
 public:
  static constexpr bool kTakesMasks = false;

  explicit DcRefiner(int low_bit) : low_bit_(low_bit) {}
  void begin_segment() {}
  void end_segment(EntropyWriter&) {}
  const char* problem() const { return nullptr; }

  void encode(EntropyWriter& writer, int, const int16_t* block, uint64_t) {
    writer.put(block[0] >> low_bit_ & 1, 1);
  }

 private:
  const int low_bit_;
};

/// Correction bits that wait for the code before them.
class WaitingBits {
 public:
  static constexpr int kCapacity = 1024;

  void add(int bit) { bits_[count_++] = static_cast<uint8_t>(bit); }
  void append(const WaitingBits& others) {
    for (int i = 0; i < others.count_; ++i) add(others.bits_[i]);
  }
  int count() const { return count_; }
  void write(EntropyWriter& writer) {
    for (int i = 0; i < count_; ++i) writer.put(bits_[i], 1);
    count_ = 0;
  }

 private:
  uint8_t bits_[kCapacity];
  int count_ = 0;
};

/// A run of blocks that have nothing more to tell but correction bits.
class BlockRun {
 public:
  static constexpr int kMostBlocks = 0x7FFF;

  int blocks() const { return blocks_; }
  void add_block() { ++blocks_; }
  void write(EntropyWriter& writer, SymbolWriter& symbols, const HuffmanCodes& codes) {
    if (blocks_ == 0) return;
    const int bits = std::bit_width(static_cast<unsigned>(blocks_)) - 1;
    const uint32_t rest = static_cast<uint32_t>(blocks_) & ((1u << bits) - 1);
    symbols.put(writer, codes, bits << 4, {bits, rest});
    blocks_ = 0;
  }

 private:
  int blocks_ = 0;
};

/// The upper bits of some AC coefficients of one component.
class AcCoder {
 public:
  static constexpr bool kTakesMasks = true;

  HuffmanCodes codes;

  explicit AcCoder(const Scan& scan) : scan_(scan) {}
  void begin_segment() {}
  void end_segment(EntropyWriter& writer) { run_.write(writer, symbols_, codes); }
  const char* problem() const { return symbols_.problem(); }
  void encode(EntropyWriter& writer, int part, const int16_t* block, uint64_t mask);

 private:
  const Scan& scan_;
  SymbolWriter symbols_;
  BlockRun run_;
};

/// One more bit of some AC coefficients of one component.
class AcRefiner {
 public:
  static constexpr bool kTakesMasks = true;

  HuffmanCodes codes;

  explicit AcRefiner(const Scan& scan) : scan_(scan) {}
  void begin_segment() {}
  void end_segment(EntropyWriter& writer) { write_run(writer); }
  const char* problem() const { return symbols_.problem(); }
  void encode(EntropyWriter& writer, int part, const int16_t* block, uint64_t mask);

 private:
  void write_run(EntropyWriter& writer) {
    run_.write(writer, symbols_, codes);
    run_corrections_.write(writer);
  }

  const Scan& scan_;
  SymbolWriter symbols_;
  BlockRun run_;
  WaitingBits run_corrections_;  // of the blocks of the run
};

}  // namespace penstock
