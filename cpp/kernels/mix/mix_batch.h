// MixUp and CutMix on a finished batch, in place.
#pragma once

#include <span>

#include "base/buffer.h"
#include "base/image.h"
#include "kernels/output.h"

namespace penstock {

enum class MixKind : int32_t { none = 0, blend = 1, paste = 2 };

/// What a slot takes from its partner.
struct Mix {
  int partner = 0;
  MixKind kind = MixKind::none;
  float own = 1;    // blend: the weight of the slot's image
  float other = 0;  // blend: the weight of the partner's
  Region box;       // paste: what is taken from the partner's image
};

/// Slots of one shape, `slot_stride` bytes apart; `first` is slot 0.
struct BatchSlots {
  Output first;
  ptrdiff_t slot_stride = 0;
};

/// True if every slot is the partner of exactly one.
bool pairs_up(std::span<const Mix> mixes);

/// Mixes rows `first_row` to `first_row` + `row_count` of all slots, as if every slot saw its
/// partner as it was before. Rows are independent of each other, so threads may share a batch by
/// rows.
/// Requires pairs_up, images of at least 1x1, floating-point elements for MixKind::blend, and boxes
/// inside the image. `scratch` keeps some rows of one slot.
void mix_rows(const BatchSlots& batch, std::span<const Mix> mixes, int first_row, int row_count,
              Buffer& scratch);

}  // namespace penstock
