#include "kernels/colour/pending_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"
#include "kernels/colour/variants.h"

namespace penstock {
namespace {

/// Cuts fractions off and keeps to numbers that fit; NaN becomes 0.
int whole(double number) {
  return std::isnan(number) ? 0 : static_cast<int>(std::clamp(number, -1e9, 1e9));
}

void require_order(const double* order) {
  unsigned seen = 0;
  for (int c = 0; c < 3; ++c)
    if (order[c] == 0 || order[c] == 1 || order[c] == 2) seen |= 1u << whole(order[c]);
  if (seen != 7)
    throw Error("permute_channels: the order must be some order of 0, 1 and 2, got " +
                std::to_string(order[0]) + ", " + std::to_string(order[1]) + ", " +
                std::to_string(order[2]) + ".");
}

}  // namespace

bool is_colour_effect(EffectKind effect) {
  return effect >= EffectKind::brightness && effect <= EffectKind::permute_channels &&
         effect != EffectKind::sharpness;
}

void PendingTables::begin() {
  pending_ = false;
  counted_ = false;
}

void PendingTables::flush(const PlanarTarget& out, const PlanarView& image) {
  if (pending_) apply_lut(out, image, table_);
  begin();
}

void PendingTables::append(const Lut& next) {
  if (pending_)
    compose(table_, next);
  else
    table_ = next;
  pending_ = true;
}

void PendingTables::count(const PlanarView& image) {
  if (!counted_) count_levels(counts_, image);
  counted_ = true;
}

Extremes PendingTables::extremes(const PlanarView& image) const {
  if (!counted_) return find_extremes(image, waiting());
  Histogram now;
  map_histogram(now, counts_, image.channels, waiting());
  return extremes_of(now, image.channels);
}

void PendingTables::equalize(const PlanarView& image) {
  count(image);
  Histogram now;
  map_histogram(now, counts_, image.channels, waiting());
  append(equalize_table(now, image.channels));
}

void PendingTables::turn_gray(PlanarTarget& image) {
  flush(image, image.view());
  PENSTOCK_PICK(to_gray)(image, image.view());
  image.channels = 1;
}

void PendingTables::permute(PlanarTarget& image, const double* order) {
  require_order(order);
  const PlanarTarget before = image;
  const Lut table = table_;
  for (int c = 0; c < 3; ++c) {
    image.plane[c] = before.plane[whole(order[c])];
    if (pending_) std::memcpy(table_.value[c], table.value[whole(order[c])], 256);
  }
  counted_ = false;
}

void PendingTables::add(PlanarTarget& image, EffectKind effect, const double* numbers) {
  const bool gray = image.channels == 1;
  const auto factor = static_cast<float>(numbers[0]);
  switch (effect) {
    case EffectKind::brightness:
      append(blend_table(0, factor));
      break;
    case EffectKind::contrast:
      append(blend_table(mean_luma(image.view(), waiting()), factor));
      break;
    case EffectKind::posterize:
      append(posterize_table(whole(numbers[0])));
      break;
    case EffectKind::solarize:
      append(solarize_table(numbers[0]));
      break;
    case EffectKind::solarize_add:
      append(solarize_add_table(whole(numbers[0]), numbers[1]));
      break;
    case EffectKind::invert:
      append(invert_table());
      break;
    case EffectKind::autocontrast:
      append(autocontrast_table(extremes(image.view()), image.channels));
      break;
    case EffectKind::equalize:
      equalize(image.view());
      break;
    case EffectKind::saturation:
      if (gray || factor == 1) break;
      if (factor == 0) {
        turn_gray(image);
        break;
      }
      flush(image, image.view());
      PENSTOCK_PICK(saturate)(image, factor);
      break;
    case EffectKind::grayscale:
      if (!gray) turn_gray(image);
      break;
    case EffectKind::hue:
      if (gray) break;
      flush(image, image.view());
      // Pillow's hues are bytes, and a turn by a negative share wraps around in them.
      PENSTOCK_PICK(turn_hue)(image, static_cast<uint8_t>(whole(numbers[0] * 255)));
      break;
    case EffectKind::permute_channels:
      if (!gray) permute(image, numbers);
      break;
    default:
      throw Error("PendingTables: effect " + std::to_string(static_cast<int>(effect)) +
                  " is not one on colour.");
  }
}

}  // namespace penstock
