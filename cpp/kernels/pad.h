// Padding as torchvision's pad on Pillow images: constant, edge, reflect, symmetric.
#pragma once

#include "base/image.h"

namespace penstock {

enum class PadMode : int32_t { constant = 0, edge = 1, reflect = 2, symmetric = 3 };

/// From outside the source, under a constant border.
inline constexpr int kPadOutside = -1;

/// The source sample behind position `p` of an axis of `size` samples; p < 0 and p >= size are the
/// border.
int padded_source(int p, int size, PadMode mode);

struct PadSpec {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
  PadMode mode = PadMode::constant;
  uint8_t fill[3] = {};
};

/// Writes `window` of the padded image to `target` (of the window's size).
/// A gray source becomes three channels if the target has three.
/// Requires a source of at least 1x1, amounts that are not negative and a window inside the padded
/// image; reflect and symmetric may pad by any amount, as numpy.pad does.
void pad(const PlanarTarget& target, const PlanarView& source, const PadSpec& spec,
         const Region& window);

/// An image of height x width that is another one, at `inside`, with a border around it.
struct Bordered {
  int height = 0;
  int width = 0;
  int channels = 3;
  Region inside;
};

/// Adds a border of one colour to rows on their way to another sink.
class BorderSink final : public RowSink {
 public:
  /// Takes the rows of `image.inside`, at least 1x1, of as many channels as the image or of one;
  /// `next` gets all rows. Valid until the next call.
  RowSink& begin(RowSink& next, const Bordered& image, const uint8_t (&fill)[3]);

  void take(const PlanarView& rows, int first_row) override;

 private:
  void add_border_rows(int count);
  void pass_on();
  PlanarTarget band() const;

  RowSink* next_ = nullptr;
  Bordered image_;
  uint8_t fill_[3] = {};
  Buffer memory_;      // rows that are complete, and room for more
  int rows_ = 0;       // there
  int passed_on_ = 0;  // rows before those
};

}  // namespace penstock
