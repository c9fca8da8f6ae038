#include "kernels/mix/mix_batch.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/mix/element_rows.h"

namespace penstock {
namespace {

// Rows of a slot that are mixed, and kept aside, together: few enough to stay in the L1 cache.
constexpr int kBandBytes = 16 << 10;

/// Some rows of one plane (Layout::chw) or of all (Layout::hwc), in every slot.
struct Band {
  uint8_t* data;  // in slot 0
  int first_row;
  int row_count;
};

/// Slots that are mixed in a circle: each with its partner, the last with the first.
struct Cycle {
  int first;
  int last;
};

class BandMixer {
 public:
  BandMixer(const BatchSlots& batch, std::span<const Mix> mixes, Buffer& scratch)
      : kernels_(PENSTOCK_PICK(element_rows)(batch.first.element)),
        mixes_(mixes),
        slot_stride_(batch.slot_stride),
        row_stride_(batch.first.row_stride),
        row_elements_(batch.first.width *
                      (batch.first.layout == Layout::hwc ? batch.first.channels : 1)),
        row_bytes_(static_cast<ptrdiff_t>(row_elements_) * size_of(batch.first.element)),
        pixel_bytes_(row_bytes_ / batch.first.width),
        rows_at_once_(static_cast<int>(std::max<ptrdiff_t>(1, kBandBytes / row_bytes_))),
        kept_(scratch.reserve(row_bytes_ * rows_at_once_)) {}

  int rows_at_once() const { return rows_at_once_; }

  /// Follows the partners from the first. Each slot is wanted by the one before it only, which is
  /// done by the time the slot changes; except for the first, of which what the last wants is kept.
  void follow(const Band& band, const Cycle& cycle) {
    for (int r = 0; r < band.row_count; ++r) {
      const Stretch wanted = wanted_of_row(band.first_row + r, mixes_[cycle.last]);
      std::memcpy(kept_ + r * row_bytes_ + wanted.offset,
                  row_of(band, cycle.first, r) + wanted.offset, wanted.bytes);
    }
    for (int slot = cycle.first;; slot = mixes_[slot].partner) {
      const Mix& mix = mixes_[slot];
      const bool last = slot == cycle.last;
      for (int r = 0; r < band.row_count; ++r)
        take(row_of(band, slot, r), last ? kept_ + r * row_bytes_ : row_of(band, mix.partner, r),
             band.first_row + r, mix);
      if (last) return;
    }
  }

 private:
  struct Stretch {
    ptrdiff_t offset = 0;
    ptrdiff_t bytes = 0;
  };

  /// What of row `y` of its partner a slot takes.
  Stretch wanted_of_row(int y, const Mix& mix) const {
    if (mix.kind == MixKind::blend) return {0, row_bytes_};
    if (mix.kind == MixKind::paste && y >= mix.box.top && y < mix.box.top + mix.box.height)
      return {mix.box.left * pixel_bytes_, mix.box.width * pixel_bytes_};
    return {};
  }

  uint8_t* row_of(const Band& band, int slot, int row) const {
    return band.data + slot * slot_stride_ + row * row_stride_;
  }

  void take(uint8_t* own, const uint8_t* other, int y, const Mix& mix) const {
    if (mix.kind == MixKind::blend) {
      kernels_.mix(own, own, other, row_elements_, mix.own, mix.other);
    } else {
      const Stretch wanted = wanted_of_row(y, mix);
      std::memmove(own + wanted.offset, other + wanted.offset, wanted.bytes);
    }
  }

  ElementRows kernels_;
  std::span<const Mix> mixes_;
  ptrdiff_t slot_stride_;
  ptrdiff_t row_stride_;
  int row_elements_;
  ptrdiff_t row_bytes_;
  ptrdiff_t pixel_bytes_;
  int rows_at_once_;
  uint8_t* kept_;
};

std::vector<Cycle> cycles_of(std::span<const Mix> mixes) {
  std::vector<bool> seen(mixes.size());
  std::vector<Cycle> cycles;
  for (size_t first = 0; first < mixes.size(); ++first) {
    if (seen[first]) continue;
    Cycle cycle{static_cast<int>(first), 0};
    for (size_t slot = first; !seen[slot]; slot = mixes[slot].partner) {
      seen[slot] = true;
      cycle.last = static_cast<int>(slot);
    }
    cycles.push_back(cycle);
  }
  return cycles;
}

}  // namespace

bool pairs_up(std::span<const Mix> mixes) {
  std::vector<bool> wanted(mixes.size());
  for (const Mix& mix : mixes) {
    if (mix.partner < 0 || static_cast<size_t>(mix.partner) >= mixes.size()) return false;
    if (wanted[mix.partner]) return false;
    wanted[mix.partner] = true;
  }
  return true;
}

void mix_rows(const BatchSlots& batch, std::span<const Mix> mixes, int first_row, int row_count,
              Buffer& scratch) {
  const Output& slot = batch.first;
  const int planes = slot.layout == Layout::chw ? slot.channels : 1;
  const std::vector<Cycle> cycles = cycles_of(mixes);
  BandMixer mixer(batch, mixes, scratch);
  const int end = first_row + row_count;
  for (int plane = 0; plane < planes; ++plane)
    for (int y = first_row; y < end; y += mixer.rows_at_once()) {
      uint8_t* data = static_cast<uint8_t*>(slot.data) + plane * slot.plane_stride;
      const Band band{data + y * slot.row_stride, y, std::min(mixer.rows_at_once(), end - y)};
      for (const Cycle& cycle : cycles) mixer.follow(band, cycle);
    }
}

}  // namespace penstock
