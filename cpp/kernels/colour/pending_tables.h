// Effects on colour, one after the other. Those that are tables are kept, to be done as one.
#pragma once

#include "base/effects.h"
#include "base/image.h"
#include "kernels/colour/lut.h"
#include "kernels/colour/statistics.h"

namespace penstock {

/// Whether PendingTables does this effect.
constexpr bool is_colour_effect(EffectKind effect) {
  return family_of(effect) == EffectFamily::colour;
}

/// Whether PendingTables keeps this effect, so that it can wait for others.
constexpr bool can_wait(EffectKind effect) {
  return is_colour_effect(effect) && effect != EffectKind::saturation &&
         effect != EffectKind::hue && effect != EffectKind::grayscale;
}

/// Whether it is a table that does not depend on the image.
constexpr bool is_fixed_table(EffectKind effect) {
  return effect == EffectKind::brightness || effect == EffectKind::posterize ||
         effect == EffectKind::solarize || effect == EffectKind::solarize_add ||
         effect == EffectKind::invert;
}

/// For one image at a time: `begin`, `add` what is drawn, `flush` when the pixels are to have it.
/// Working images only (rows are written up to kRowSlack bytes past their end).
class PendingTables {
 public:
  /// Another image: nothing waits, nothing is counted.
  void begin();

  /// Others have changed the pixels, moved them or left some out: nothing is counted. What waits
  /// does so still.
  void forget_counts() { counted_ = found_ = false; }

  /// Others are about to write all pixels of an image of so many channels, and show its parts to
  /// what is returned: its extremes are known then.
  PartWatch& watch(int channels);

  /// Whether `add` and `flush` are to find extremes in the pixels that they write.
  void set_watching(bool watching) { watching_ = watching; }

  /// Does an effect of the family `colour` after what waits, or keeps it as part of the table. The
  /// image may lose its colour (and have one channel from then on), or have its planes in another
  /// order; a fixed table needs none. `numbers` are the effect's parameters. Throws Error if they
  /// cannot be worked with, and for other effects.
  void add(PlanarTarget& image, EffectKind effect, const double* numbers);

  bool pending() const { return pending_; }

  /// Ends the wait without applying the table, which is the caller's to apply. Requires pending().
  LevelMap take();

  /// Others are about to put pixels of this colour into the image, while the table waits: the
  /// colour becomes one of which the table makes it. False if there is none.
  bool pass_below(uint8_t (&colour)[3]) const;

  /// Applies what waits, if anything, to `image`; `out` may be the image itself.
  void flush(const PlanarTarget& out, const PlanarView& image);

 private:
  class Add;  // knows every effect of the family

  const Lut* waiting() const { return pending_ ? &table_ : nullptr; }
  void append(const Lut& next);
  void apply(const PlanarTarget& out, const PlanarView& image, bool watching);
  /// `change` is given some rows at a time, after what waits; they have so many channels then.
  template <class Change>
  void change_pixels(const PlanarTarget& image, int channels, Change change);
  void count(const PlanarView& image);
  Extremes extremes(const PlanarView& image) const;
  void equalize(const PlanarView& image);
  void turn_gray(PlanarTarget& image);
  void permute(PlanarTarget& image, const double (&order)[3]);

  bool pending_ = false;
  bool watching_ = false;
  Lut table_;

  // Of the pixels as stored, without the table:
  bool counted_ = false;
  Histogram counts_;
  bool found_ = false;
  ExtremeFinder extremes_;
};

}  // namespace penstock
