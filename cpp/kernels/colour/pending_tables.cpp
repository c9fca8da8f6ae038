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

void require_order(const double (&order)[3]) {
  unsigned seen = 0;
  for (int c = 0; c < 3; ++c)
    if (order[c] == 0 || order[c] == 1 || order[c] == 2) seen |= 1u << whole(order[c]);
  if (seen != 7)
    throw Error("permute_channels: the order must be some order of 0, 1 and 2, got " +
                std::to_string(order[0]) + ", " + std::to_string(order[1]) + ", " +
                std::to_string(order[2]) + ".");
}

/// `write(top, height)` writes so many rows of an image and returns them. Where somebody watches,
/// it does so for some rows at a time, which are in the cache still when they are seen; not for too
/// few, since kernels have tables to make.
template <class Write>
void write_watched(PartWatch* watch, const PlanarTarget& image, Write write) {
  if (watch == nullptr) {
    write(0, image.height);
    return;
  }
  constexpr int64_t kValues = 1 << 17;
  const auto rows = static_cast<int>(
      std::clamp<int64_t>(kValues / (int64_t{image.width} * image.channels), 1, image.height));
  for (int top = 0; top < image.height; top += rows)
    watch->see(write(top, std::min(rows, image.height - top)));
}

}  // namespace

void PendingTables::begin() {
  pending_ = false;
  forget_counts();
}

PartWatch& PendingTables::watch(int channels) {
  forget_counts();
  extremes_.begin(channels);
  found_ = true;
  return extremes_;
}

void PendingTables::apply(const PlanarTarget& out, const PlanarView& image, bool watching) {
  if (!pending_) return;
  const LevelMap map = take();
  write_watched(watching ? &watch(image.channels) : nullptr, out, [&](int top, int height) {
    const PlanarTarget rows = rows_of(out, top, height);
    map.apply(rows, rows_of(image, top, height));
    return rows.view();
  });
}

LevelMap PendingTables::take() {
  begin();
  return {table_, 3};
}

bool PendingTables::pass_below(uint8_t (&colour)[3]) const {
  if (!pending_) return true;
  uint8_t below[3];
  for (int c = 0; c < 3; ++c) {
    const uint8_t* const levels = table_.value[c];
    const uint8_t* const level = std::find(levels, levels + 256, colour[c]);
    if (level == levels + 256) return false;
    below[c] = static_cast<uint8_t>(level - levels);
  }
  std::copy_n(below, 3, colour);
  return true;
}

void PendingTables::flush(const PlanarTarget& out, const PlanarView& image) {
  apply(out, image, watching_);
}

template <class Change>
void PendingTables::change_pixels(const PlanarTarget& image, int channels, Change change) {
  apply(image, image.view(), false);
  forget_counts();
  write_watched(watching_ ? &watch(channels) : nullptr, image, [&](int top, int height) {
    PlanarTarget rows = rows_of(image, top, height);
    change(rows);
    rows.channels = channels;
    return rows.view();
  });
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
  if (found_ && !pending_) return extremes_.found();
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
  change_pixels(image, 1,
                [](const PlanarTarget& rows) { PENSTOCK_PICK(to_gray)(rows, rows.view()); });
  image.channels = 1;
}

void PendingTables::permute(PlanarTarget& image, const double (&order)[3]) {
  require_order(order);
  const PlanarTarget before = image;
  const Lut table = table_;
  for (int c = 0; c < 3; ++c) {
    image.plane[c] = before.plane[whole(order[c])];
    if (pending_) std::memcpy(table_.value[c], table.value[whole(order[c])], 256);
  }
  forget_counts();
}

/// Adds one effect; there is a call operator for each kind of the family.
class PendingTables::Add {
 public:
  Add(PendingTables& tables, PlanarTarget& image) : tables_(tables), image_(image) {}

  // Effects that look at one level at a time are a function from level to level.

  void operator()(const Parameters<EffectKind::brightness>& p) { blend(0, p.factor); }
  void operator()(const Parameters<EffectKind::contrast>& p) {
    const int mean =
        p.has_mean[0] != 0 ? whole(p.mean[0] + 0.5) : mean_luma(image_.view(), tables_.waiting());
    blend(mean, p.factor);
  }
  void operator()(const Parameters<EffectKind::posterize>& p) {
    const int kept = 0xff00 >> std::clamp(whole(p.bits), 0, 8);
    each_level([=](int level) { return level & kept; });
  }
  void operator()(const Parameters<EffectKind::solarize>& p) {
    each_level([=](int level) { return level < p.threshold ? level : 255 - level; });
  }
  void operator()(const Parameters<EffectKind::solarize_add>& p) {
    const int added = std::clamp(whole(p.amount), -255, 255);
    each_level(
        [=](int level) { return level < p.threshold ? std::clamp(level + added, 0, 255) : level; });
  }
  void operator()(const Parameters<EffectKind::invert>&) {
    each_level([](int level) { return 255 - level; });
  }

  void operator()(const Parameters<EffectKind::autocontrast>&) {
    tables_.append(autocontrast_table(tables_.extremes(image_.view()), image_.channels));
  }
  void operator()(const Parameters<EffectKind::equalize>&) { tables_.equalize(image_.view()); }

  void operator()(const Parameters<EffectKind::saturation>& p) {
    const auto factor = static_cast<float>(p.factor);
    if (is_gray() || factor == 1) return;
    if (factor == 0) return tables_.turn_gray(image_);
    tables_.change_pixels(image_, 3,
                          [=](const PlanarTarget& rows) { PENSTOCK_PICK(saturate)(rows, factor); });
  }
  void operator()(const Parameters<EffectKind::grayscale>&) {
    if (!is_gray()) tables_.turn_gray(image_);
  }
  void operator()(const Parameters<EffectKind::hue>& p) {
    if (is_gray()) return;
    // Pillow's hues are bytes, and a turn by a negative share wraps around in them.
    const auto turn = static_cast<uint8_t>(whole(p.factor * 255));
    tables_.change_pixels(image_, 3,
                          [=](const PlanarTarget& rows) { PENSTOCK_PICK(turn_hue)(rows, turn); });
  }
  void operator()(const Parameters<EffectKind::permute_channels>& p) {
    if (!is_gray()) tables_.permute(image_, p.order);
  }

  /// Others never come here.
  template <EffectKind kKind>
    requires(!is_colour_effect(kKind))
  void operator()(const Parameters<kKind>&) {}

 private:
  bool is_gray() const { return image_.channels == 1; }

  template <class Level>
  void each_level(Level level_after) {
    Lut table;
    for (int level = 0; level < 256; ++level)
      table.value[0][level] = static_cast<uint8_t>(level_after(level));
    std::memcpy(table.value[1], table.value[0], 256);
    std::memcpy(table.value[2], table.value[0], 256);
    tables_.append(table);
  }

  /// As Pillow's Image.blend of a constant `from` and the image.
  void blend(int from, double given) {
    const auto factor = static_cast<float>(given);
    const auto base = static_cast<float>(from);
    each_level([=](int level) {
      const float blended = base + factor * static_cast<float>(level - from);
      // Written so that a NaN (0 * infinity) becomes 0.
      return blended > 0 ? static_cast<int>(std::min(blended, 255.0f)) : 0;
    });
  }

  PendingTables& tables_;
  PlanarTarget& image_;
};

void PendingTables::add(PlanarTarget& image, EffectKind effect, const double* numbers) {
  if (!is_colour_effect(effect))
    throw Error("PendingTables: effect " + std::to_string(static_cast<int>(effect)) +
                " is not one on colour.");
  visit_effect(effect, numbers, Add(*this, image));
}

}  // namespace penstock
