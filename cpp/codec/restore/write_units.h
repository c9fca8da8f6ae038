// Walks over the units (MCUs) of a scan, whatever is written of each block.
#pragma once

#include <algorithm>
#include <vector>

#include "codec/markers.h"
#include "codec/restore/encode_scan.h"
#include "codec/restore/entropy_writer.h"
#include "codec/zigzag.h"

namespace penstock {

/// The blocks of one component, as a scan goes through them.
struct ScanPart {
  const CoefficientComponent* component = nullptr;
  int unit_rows = 1;  // blocks of a unit
  int unit_columns = 1;
  uint64_t* masks = nullptr;  // of the current row of units
};

struct ScanWalk {
  int parts = 0;
  ScanPart part[3];
  int unit_rows = 0;  // units of the scan
  int unit_columns = 0;
};

/// A scan of several components goes through whole units; a scan of one through those of its blocks
/// that hold pixels.
inline ScanWalk plan_walk(const CoefficientImage& image, const Scan& scan,
                          std::vector<uint64_t>& masks) {
  ScanWalk walk;
  walk.parts = scan.components;
  size_t total = 0;
  for (int i = 0; i < walk.parts; ++i) {
    const CoefficientComponent& component = image.component[scan.component[i].index];
    walk.part[i].component = &component;
    if (walk.parts > 1) {
      walk.part[i].unit_rows = component.vertical;
      walk.part[i].unit_columns = component.horizontal;
    }
    total += size_t{1} * component.block_columns * walk.part[i].unit_rows;
  }
  masks.resize(std::max(masks.size(), total));
  uint64_t* next = masks.data();
  for (int i = 0; i < walk.parts; ++i) {
    walk.part[i].masks = next;
    next += size_t{1} * walk.part[i].component->block_columns * walk.part[i].unit_rows;
  }
  if (walk.parts > 1) {
    walk.unit_rows = image.mcu_rows();
    walk.unit_columns = image.mcu_columns();
  } else {
    const CoefficientComponent& own = *walk.part[0].component;
    const auto divide_up = [](int value, int divisor) { return (value + divisor - 1) / divisor; };
    walk.unit_rows = divide_up(image.height * own.vertical, image.component[0].vertical * 8);
    walk.unit_columns = divide_up(image.width * own.horizontal, image.component[0].horizontal * 8);
  }
  return walk;
}

/// A Coder has begin_segment(), encode(writer, part, block, mask), end_segment(writer) and
/// problem(), the last of which says what could not be written. The mask is 0 unless it
/// kTakesMasks.
template <class Coder>
class UnitWriter {
 public:
  UnitWriter(GrowingFile& file, Coder& coder, int restart_interval, bool pad_with_ones,
             std::vector<uint8_t>& unstuffed)
      : file_(file),
        coder_(coder),
        restart_interval_(restart_interval),
        pad_with_ones_(pad_with_ones),
        begin_(sized(unstuffed)),
        writer_(begin_),
        units_to_restart_(restart_interval) {}

  const char* write(const ScanWalk& walk) {
    const auto find_masks = PENSTOCK_PICK(zigzag_masks);
    coder_.begin_segment();
    for (int row = 0; row < walk.unit_rows; ++row) {
      for (int i = 0; Coder::kTakesMasks && i < walk.parts; ++i) {
        const ScanPart& part = walk.part[i];
        find_masks(part.masks, part.component->block(row * part.unit_rows, 0),
                   part.unit_rows * part.component->block_columns);
      }
      for (int column = 0; column < walk.unit_columns; ++column) {
        if (restart_interval_ > 0) count_to_restart();
        if (writer_.position() - begin_ > kFlushedBytes) flush();
        write_unit(walk, row, column);
      }
    }
    end_segment();
    return coder_.problem();
  }

 private:
  // The worst block has 64 codes and values of 32 bits, and some bits that waited for it.
  static constexpr ptrdiff_t kMostUnitBytes = 12 * 512;
  static constexpr ptrdiff_t kFlushedBytes = 1 << 14;

  static uint8_t* sized(std::vector<uint8_t>& unstuffed) {
    unstuffed.resize(kFlushedBytes + 2 * kMostUnitBytes);
    return unstuffed.data();
  }

  void flush() {
    file_.append_stuffed(begin_, writer_.position());
    writer_.move_to(begin_);
  }

  void end_segment() {
    flush();
    coder_.end_segment(writer_);
    writer_.pad(pad_with_ones_);
    flush();
  }

  void count_to_restart() {
    if (units_to_restart_-- > 0) return;
    end_segment();
    file_.append_marker(static_cast<uint8_t>(kRst0 + next_restart_));
    next_restart_ = (next_restart_ + 1) & 7;
    units_to_restart_ = restart_interval_ - 1;
    coder_.begin_segment();
  }

  void write_unit(const ScanWalk& walk, int row, int column) {
    for (int i = 0; i < walk.parts; ++i) {
      const ScanPart& part = walk.part[i];
      for (int y = 0; y < part.unit_rows; ++y) {
        const int first = column * part.unit_columns;
        const int16_t* block = part.component->block(row * part.unit_rows + y, first);
        const uint64_t* mask = part.masks + y * part.component->block_columns + first;
        for (int x = 0; x < part.unit_columns; ++x)
          coder_.encode(writer_, i, block + 64 * x, Coder::kTakesMasks ? mask[x] : 0);
      }
    }
  }

  GrowingFile& file_;
  Coder& coder_;
  const int restart_interval_;  // units
  const bool pad_with_ones_;
  uint8_t* const begin_;  // of what is not stuffed yet
  EntropyWriter writer_;
  int units_to_restart_;
  int next_restart_ = 0;
};

}  // namespace penstock
