// Where the samples lie that an output is made of, along one axis, as Pillow places them, torch or
// OpenCV.
#pragma once

#include "kernels/resample.h"

namespace penstock {

/// One axis of a resize, of which only outputs [first, first + count) are wanted.
struct Axis {
  int in_size = 0;
  float box_begin = 0;  // the part of the input that is resized
  float box_end = 0;
  int out_size = 0;
  int first = 0;
  int count = 0;
  Filter filter = Filter::bilinear;
  bool mirrored = false;  // the wanted outputs are listed from the last one to the first
  Weights weights = Weights::pillow;
  bool is_area = false;  // OpenCV's areas, of an image that grows along neither axis

  friend bool operator==(const Axis&, const Axis&) = default;
};

struct Span {
  int begin = 0;
  int end = 0;
};

/// Pillow's geometry, in doubles and in its order of operations.
class Placement {
 public:
  explicit Placement(const Axis& axis);

  double center(int output) const { return box_begin_ + (output + 0.5) * scale_; }

  /// How much the filter is stretched: by the ratio of the sizes when shrinking, else not at all.
  double filter_scale() const { return filter_scale_; }

  /// The samples under the filter; at least one.
  Span list(double center_of_output) const;

 private:
  int in_size_;
  double box_begin_;
  double scale_;
  double filter_scale_;
  double support_;
};

/// torch's geometry without antialiasing: two samples for a bilinear resize, four for a bicubic
/// one.
class DirectPlacement {
 public:
  explicit DirectPlacement(const Axis& axis);

  struct Place {
    int sample;       // at or before the output's centre
    double fraction;  // how far the centre is on the way to the next sample
  };
  Place place(int output) const;

  /// How many samples the filter wants before those past the edges are left out.
  int taps() const { return 2 * support_; }

  /// The first sample that the filter wants, which may lie before the edge.
  int first_tap(const Place& place) const { return place.sample - support_ + 1; }

  /// The samples under the filter that exist; at least one.
  Span list(int output) const;

 private:
  int in_size_;
  double scale_;
  int support_;
};

/// OpenCV's geometry: two samples, however much it shrinks. Where it is asked for areas and the
/// image grows, it takes two as well, at other places.
class OpencvPlacement {
 public:
  explicit OpencvPlacement(const Axis& axis);

  struct Place {
    int sample;      // at or before the output's centre; -1 before the first one
    float fraction;  // how far the centre is on the way to the next sample
  };
  Place place(int output) const;

  /// The sample that stands for the output where nothing is mixed.
  int nearest(int output) const;

  /// The samples that exist; at least one.
  Span list(int output) const;

 private:
  int in_size_;
  double inverse_;
  double scale_;
  bool by_area_;
};

/// OpenCV's geometry for areas: the samples that an output covers, in part or whole.
class OpencvAreas {
 public:
  /// `is_whole` says that samples are counted rather than weighted, along both axes.
  OpencvAreas(const Axis& axis, bool is_whole);

  /// At least one sample.
  Span list(int output) const;

  /// How much of the output is in this one of its samples.
  float weight(int output, int sample) const;

 private:
  /// Where an output begins and ends, how much of it lies in the image, and the samples that it
  /// covers whole.
  struct Cell {
    double begin;
    double end;
    double size;
    int first;
    int last;  // behind them
  };
  Cell cell(int output) const;

  int in_size_;
  double scale_;
  bool is_whole_;
};

/// Each output is one sample: no filter applies, or Pillow skips the pass.
bool is_copy(const Axis& axis);

/// Sets lists[i] for output axis.first + i, mirrored or not. Begins and ends never decrease.
void place_lists(Span* lists, const Axis& axis);

/// The samples that the wanted outputs depend on.
Span needed_span(const Axis& axis);

}  // namespace penstock
