// Crop window, resize, mirror and final pass in one go, bit-identical to Pillow's resize, or to
// torch's or OpenCV's resize of bytes.
#pragma once

#include <optional>

#include "base/image.h"
#include "base/scratch.h"
#include "kernels/output.h"

namespace penstock {

/// Pillow's own numbers, so that Python can pass them through.
enum class Filter : int32_t {
  nearest = 0,
  lanczos = 1,
  bilinear = 2,
  bicubic = 3,
  box = 4,
  hamming = 5
};

/// Whose weights a resize has. torch has Pillow's places and filters, but keeps fewer bits of its
/// weights; `torch_direct` is without antialiasing: two or four samples, however much it shrinks.
/// Those of torch are for Filter::bilinear and Filter::bicubic, and go without a box.
/// OpenCV takes two samples as well, but keeps more bits between its passes, and has other nearest
/// samples; Filter::box stands for its areas. Its weights are for these three, without a box
/// either.
enum class Weights : int32_t { pillow = 0, torch_antialiased = 1, torch_direct = 2, opencv = 3 };

/// A part of an image, in pixels and fractions of them. Single precision, as Pillow takes it.
struct SourceBox {
  float top = 0;
  float left = 0;
  float bottom = 0;
  float right = 0;
};

/// An image of in_height x in_width, resized to out_height x out_width, of which only `window` is
/// wanted, mirrored after that if asked. The output has the window's size.
struct ResizeSpec {
  int in_height = 0;
  int in_width = 0;
  int in_channels = 3;
  int out_height = 0;
  int out_width = 0;
  Region window;
  Filter filter = Filter::bilinear;
  bool vertical_first = false;  // Pillow's order for these sizes: planner/pillow_order.py
  bool flip_horizontal = false;
  bool flip_vertical = false;

  /// Only this part of the input is resized, but filters read past its edges as far as the input
  /// reaches (Pillow's `resize(box=)`). Must lie inside the input. Not for Filter::nearest.
  std::optional<SourceBox> box = {};

  Weights weights = Weights::pillow;
};

/// A worker's recycled tables and row buffers for resampling.
struct ResampleState;
using ResampleScratch = Scratch<ResampleState>;

/// The rows and columns of the input that the window depends on; bands must cover exactly these.
Region needed_input(const ResizeSpec& spec);

/// A sink that takes rows `needed_input(spec)` of the input (its top-left pixel being row 0, column
/// 0 of the first band) and has written the whole window to `output` after the last one.
/// Valid until the next call with the same scratch. Allocates only while the scratch grows.
RowSink& begin_resample(ResampleScratch& scratch, const ResizeSpec& spec, const Output& output);

}  // namespace penstock
