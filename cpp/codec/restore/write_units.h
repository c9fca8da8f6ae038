// Walks over the units (MCUs) of a scan, whatever is written of each block.
#pragma once

#include <algorithm>
#include <vector>

#include "codec/markers.h"
#include "codec/restore/bit_writer.h"
#include "codec/restore/encode_scan.h"
#include "codec/restore/zigzag_masks.h"

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
/// problem(), the last of which says what could not be written.
template <class Coder>
const char* write_units(GrowingFile& file, Coder& coder, const CoefficientImage& image,
                        const Scan& scan, int restart_interval, bool pad_with_ones,
                        std::vector<uint64_t>& masks) {
  // What waits in the writer and the coder, and the worst block: 64 codes and values of 32 bits,
  // all of it stuffed.
  constexpr size_t kMostBlockBytes = 1024;
  constexpr size_t kMostUnitBytes = 12 * kMostBlockBytes;

  const ScanWalk walk = plan_walk(image, scan, masks);
  const ZigzagMasks find_masks = zigzag_masks();
  BitWriter writer(file.reserve(kMostUnitBytes));
  int units_to_restart = restart_interval;
  int next_restart = 0;
  coder.begin_segment();
  for (int row = 0; row < walk.unit_rows; ++row) {
    for (int i = 0; i < walk.parts; ++i) {
      const ScanPart& part = walk.part[i];
      find_masks(part.masks, part.component->block(row * part.unit_rows, 0),
                 part.unit_rows * part.component->block_columns);
    }
    for (int column = 0; column < walk.unit_columns; ++column) {
      file.used = writer.position() - file.bytes.data();
      writer.move_to(file.reserve(kMostUnitBytes));
      if (restart_interval > 0 && units_to_restart-- == 0) {
        coder.end_segment(writer);
        writer.finish(pad_with_ones);
        writer.put_marker(static_cast<uint8_t>(kRst0 + next_restart));
        next_restart = (next_restart + 1) & 7;
        units_to_restart = restart_interval - 1;
        coder.begin_segment();
      }
      for (int i = 0; i < walk.parts; ++i) {
        const ScanPart& part = walk.part[i];
        for (int y = 0; y < part.unit_rows; ++y) {
          const int first = column * part.unit_columns;
          const int16_t* block = part.component->block(row * part.unit_rows + y, first);
          const uint64_t* mask = part.masks + y * part.component->block_columns + first;
          for (int x = 0; x < part.unit_columns; ++x)
            coder.encode(writer, i, block + 64 * x, mask[x]);
        }
      }
    }
  }
  coder.end_segment(writer);
  writer.finish(pad_with_ones);
  file.used = writer.position() - file.bytes.data();
  return coder.problem();
}

}  // namespace penstock
