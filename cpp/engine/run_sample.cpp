#include "engine/run_sample.h"

#include <algorithm>
#include <utility>

#include "engine/on_the_way.h"
#include "kernels/pad.h"
#include "kernels/warp/warp.h"

namespace penstock {
namespace {

// Rows that are written late at a time: a call for each would cost as much as half of the writing.
constexpr int kLateRows = 8;

Output output_to(const PlanarTarget& image) {
  Output output;
  output.data = image.plane[0];
  output.row_stride = image.stride;
  output.plane_stride = image.stride * image.height;
  output.height = image.height;
  output.width = image.width;
  output.channels = image.channels;
  output.layout = Layout::chw;
  output.element = Element::uint8;
  return output;
}

/// The pixels of the reduced image that `crop` touches.
Region reduced(const Region& crop, int scale) {
  const int top = crop.top / scale, left = crop.left / scale;
  return {top, left, reduced_size(crop.top + crop.height, scale) - top,
          reduced_size(crop.left + crop.width, scale) - left};
}

/// Where `crop` lies in those pixels, exactly.
SourceBox box_within(const Region& pixels, const Region& crop, int scale) {
  const auto from = [scale](int position, int origin) {
    return static_cast<float>(position - origin * scale) / static_cast<float>(scale);
  };
  return {from(crop.top, pixels.top), from(crop.left, pixels.left),
          from(crop.top + crop.height, pixels.top), from(crop.left + crop.width, pixels.left)};
}

/// How a step without a border resizes `crop` of an image.
ResizeSpec resize_spec(const Step& step, const Region& crop, const Input& input) {
  const Region pixels = reduced(crop, input.scale);
  ResizeSpec spec;
  spec.in_height = pixels.height;
  spec.in_width = pixels.width;
  if (input.scale != 1) spec.box = box_within(pixels, crop, input.scale);
  if (step.has_box()) spec.box = step.box();
  spec.in_channels = input.channels;
  spec.out_height = step.resize_height;
  spec.out_width = step.resize_width;
  spec.window = step.window();
  spec.filter = static_cast<Filter>(step.filter);
  spec.weights = static_cast<Weights>(step.weights);
  spec.vertical_first = step.vertical_first != 0;
  spec.flip_horizontal = step.flip_horizontal != 0;
  spec.flip_vertical = step.flip_vertical != 0;
  return spec;
}

/// What such a step reads of the image; `spec` only counts if it resizes.
Region needed_of(const Step& step, const Region& crop, const ResizeSpec& spec, int scale) {
  const Region window = step.window();
  if (!step.resizes())
    return {crop.top + window.top, crop.left + window.left, window.height, window.width};
  const Region pixels = reduced(crop, scale), needed = needed_input(spec);
  return {pixels.top + needed.top, pixels.left + needed.left, needed.height, needed.width};
}

DecodeResult run_unpadded(const Output& output, Input& input, const Step& step, const Region& crop,
                          WorkerScratch& scratch) {
  if (!step.resizes()) {
    return input.send(needed_of(step, crop, {}, input.scale), [&]() -> RowSink& {
      return begin_copy(scratch.copy, input.channels, step.flip_horizontal != 0,
                        step.flip_vertical != 0, output);
    });
  }
  const ResizeSpec spec = resize_spec(step, crop, input);
  DecodeResult result = input.send(needed_of(step, crop, spec, input.scale), [&]() -> RowSink& {
    return begin_resample(scratch.resample, spec, output);
  });
  if (result.status != DecodeStatus::irregular) return result;
  input.scale = 1;  // libjpeg decodes it then, at full size
  return run_unpadded(output, input, step, crop, scratch);
}

PadSpec pad_spec_of(const Step& step) {
  PadSpec spec;
  spec.left = step.pad_left;
  spec.top = step.pad_top;
  spec.right = step.pad_right;
  spec.bottom = step.pad_bottom;
  spec.mode = static_cast<PadMode>(step.pad_mode);
  for (int c = 0; c < 3; ++c) spec.fill[c] = static_cast<uint8_t>(step.pad_fill >> (8 * c));
  return spec;
}

/// A constant border has colour, so a gray image becomes RGB under it unless its fill is gray too.
int channels_after(const Input& input, const Step& step) {
  if (!step.pads()) return input.channels;
  const PadSpec spec = pad_spec_of(step);
  const bool gray_fill = spec.mode != PadMode::constant ||
                         (spec.fill[0] == spec.fill[1] && spec.fill[1] == spec.fill[2]);
  return input.channels == 1 && gray_fill ? 1 : 3;
}

/// What a step that pads with one colour and does not resize takes of the image, without a border.
Region inside_of(const Step& step, const Input& input) {
  const Region wanted = needed_of(step, step.crop(), {}, 1);
  const int top = std::clamp(wanted.top - step.pad_top, 0, input.height);
  const int left = std::clamp(wanted.left - step.pad_left, 0, input.width);
  const int bottom = std::clamp(wanted.top + wanted.height - step.pad_top, top, input.height);
  const int right = std::clamp(wanted.left + wanted.width - step.pad_left, left, input.width);
  return {top, left, bottom - top, right - left};
}

/// Whether a step that pads is such a step, and sees at least a pixel of the image.
bool only_adds_border(const Step& step, const Input& input) {
  if (static_cast<PadMode>(step.pad_mode) != PadMode::constant || step.resizes()) return false;
  const Region inside = inside_of(step, input);
  return inside.height > 0 && inside.width > 0;
}

/// Runs such a step: rows get their border on the way.
DecodeResult run_bordered(const Output& output, Input& input, const Step& step,
                          WorkerScratch& scratch) {
  const Region wanted = needed_of(step, step.crop(), {}, 1), inside = inside_of(step, input);
  const PadSpec spec = pad_spec_of(step);
  const int channels = channels_after(input, step);
  const Region place{inside.top + spec.top - wanted.top, inside.left + spec.left - wanted.left,
                     inside.height, inside.width};
  return input.send(inside, [&]() -> RowSink& {
    RowSink& copy = begin_copy(scratch.copy, channels, step.flip_horizontal != 0,
                               step.flip_vertical != 0, output);
    return scratch.border.begin(copy, {wanted.height, wanted.width, channels, place}, spec.fill);
  });
}

DecodeResult run_step(const Output& output, Input& input, const Step& step,
                      WorkerScratch& scratch) {
  if (!step.pads()) return run_unpadded(output, input, step, step.crop(), scratch);

  if (only_adds_border(step, input)) return run_bordered(output, input, step, scratch);

  PlanarTarget whole;
  const DecodeResult decoded =
      copy_region(whole, scratch.unpadded, input, {0, 0, input.height, input.width}, scratch);
  if (decoded.status != DecodeStatus::ok) return decoded;

  const PlanarTarget padded =
      working_image(scratch.padded, step.crop_height, step.crop_width, channels_after(input, step));
  pad(padded, whole.view(), pad_spec_of(step), step.crop());

  PlanarInput rest(padded.view());
  run_unpadded(output, rest, step, {0, 0, step.crop_height, step.crop_width}, scratch);
  return decoded;
}

/// Whether a first step's result has the very pixels of the image, reduced by `scale`, that it
/// takes.
bool keeps_pixels(const Step& step, int scale) {
  if (step.pads() || step.has_box()) return false;
  if (!step.resizes()) return scale == 1;
  const Region crop = step.crop(), pixels = reduced(crop, scale);
  return (crop.top | crop.left | crop.height | crop.width) % scale == 0 &&
         step.window() == Region{0, 0, pixels.height, pixels.width} &&
         step.resize_height == pixels.height && step.resize_width == pixels.width;
}

template <EffectKind kKind>
Outline needed_by_warp(const Effect& effect, const Step& step) {
  const Parameters<kKind> p = effect.read<kKind>();
  WarpFrame frame{0, 0, effect.height, effect.width, 0, 0, step.window_height, step.window_width};
  if (has_frame(p.frame)) frame = frame_of(p.frame);
  const Region window{frame.out_top, frame.out_left, effect.height, effect.width};
  return warp_outline(p.matrix, window, frame.in_height, frame.in_width)
      .seen_from(frame.in_top, frame.in_left)
      .mirrored(step.flip_horizontal != 0, step.flip_vertical != 0, step.window_height,
                step.window_width);
}

/// What the first step must read, if a warp follows that needs less than all of its result.
Outline wanted_of(const Step& step, std::span<const Effect> effects, int scale) {
  if (effects.empty() || !keeps_pixels(step, scale)) return {};
  switch (effects[0].kind) {
    case EffectKind::affine:
      return needed_by_warp<EffectKind::affine>(effects[0], step);
    case EffectKind::perspective:
      return needed_by_warp<EffectKind::perspective>(effects[0], step);
    default:
      return {};
  }
}

/// A step whose result is not finished yet: `effects` or other steps follow.
DecodeResult run_between(PlanarTarget& result, Buffer& memory, Input& input, const Step& step,
                         const OnTheWay& way, std::span<const Effect> effects,
                         WorkerScratch& scratch) {
  result =
      working_image(memory, step.window_height, step.window_width, channels_after(input, step));
  Output output = output_to(result);
  output.beside = &scratch.late;
  if (count_early(effects) && !way.is_placed)
    output.watch = &scratch.effects.tables.watch(result.channels);
  return run_step(way.place_in(output), input, way.step, scratch);
}

/// Whether a step takes a part of its input as it is.
bool only_crops(const Step& step) {
  return !step.pads() && !step.resizes() && (step.flip_horizontal | step.flip_vertical) == 0;
}

/// The part of a working image that such a step takes, where it lies. Effects may write behind its
/// rows: there they find pixels that are no longer needed, and then the slack of the whole.
PlanarTarget part_of(const PlanarTarget& image, const Step& step) {
  PlanarTarget part = image;
  part.height = step.window_height;
  part.width = step.window_width;
  for (int c = 0; c < image.channels; ++c)
    part.plane[c] =
        image.row(c, step.crop_top + step.window_top) + step.crop_left + step.window_left;
  return part;
}

/// Where a working image lies: it is a step's result, or what effects made of it.
Buffer& memory_of(const PlanarTarget& image, WorkerScratch& scratch) {
  if (scratch.effects.spare.holds(image.plane[0])) return scratch.effects.spare;
  return scratch.working[scratch.working[0].holds(image.plane[0]) ? 0 : 1];
}

/// The buffer of a step's results in which this working image does not lie.
Buffer& memory_beside(const PlanarTarget& image, WorkerScratch& scratch) {
  return scratch.working[scratch.working[0].holds(image.plane[0]) ? 1 : 0];
}

/// What still waits, before a step that needs the pixels.
void apply_tables(const PlanarTarget& image, WorkerScratch& scratch) {
  scratch.effects.tables.flush(image, image.view());
}

/// Effects after a step whose result may lie in any of a worker's memory.
PlanarTarget run_effects_on(const PlanarTarget& image, std::span<const Effect> effects,
                            WorkerScratch& scratch) {
  Buffer& own = memory_of(image, scratch);
  Buffer& memory = &own == &scratch.effects.spare ? memory_beside(image, scratch) : own;
  return run_effects(image, memory, effects, scratch.effects);
}

/// What waits becomes part of the final pass. It lasts until the next sample.
Output with_tables(const Output& output, WorkerScratch& scratch) {
  Output mapped = output;
  if (scratch.effects.tables.pending()) {
    scratch.levels = scratch.effects.tables.take();
    mapped.levels = &scratch.levels;
  }
  return mapped;
}

/// The final pass on its own.
void write_finished(const Output& output, const PlanarTarget& image, WorkerScratch& scratch) {
  feed_planar(begin_copy(scratch.copy, image.channels, false, false, output), image.view(),
              {0, 0, image.height, image.width});
}

}  // namespace

void LateRows::begin(const Output& output, const PlanarTarget& image, Buffer& memory) {
  std::swap(memory_, memory);
  Output own = output;
  if (output.levels != nullptr) {
    levels_ = *output.levels;
    own.levels = &levels_;
  }
  writer_.begin(own, image.channels);
  image_ = image;
  next_row_ = owed_rows_ = 0;
}

void LateRows::step(int rows) {
  owed_rows_ += rows;
  if (owed_rows_ >= kLateRows && is_pending()) write(std::exchange(owed_rows_, 0));
}

void LateRows::finish() {
  if (is_pending()) write(image_.height);
}

void LateRows::write(int rows) {
  const int count = std::min(rows, image_.height - next_row_);
  writer_.write_rows(next_row_, rows_of(image_.view(), next_row_, count));
  next_row_ += count;
  if (!is_pending()) writer_.finish();
}

Region needed_region(const Program& program, const Input& input) {
  const Step& step = program.steps[0];
  if (step.pads())
    return only_adds_border(step, input) ? inside_of(step, input)
                                         : Region{0, 0, input.height, input.width};
  return needed_of(step, step.crop(), resize_spec(step, step.crop(), input), input.scale);
}

DecodeResult copy_region(PlanarTarget& image, Buffer& memory, Input& input, const Region& region,
                         WorkerScratch& scratch) {
  image = working_image(memory, region.height, region.width, input.channels);
  Output output = output_to(image);
  output.beside = &scratch.late;
  return input.send(region, [&]() -> RowSink& {
    return begin_copy(scratch.copy, input.channels, false, false, output);
  });
}

DecodeResult run_sample(bool& late, const Output& output, const SampleSource& source,
                        const Program& program, WorkerScratch& scratch) {
  SourceInput input(source, program.steps[0].reduction(), scratch.input,
                    program.steps[0].gray == kLumaAlone);
  return run_program(late, output, input, program, scratch);
}

DecodeResult run_program(bool& late, const Output& output, Input& colour, const Program& program,
                         WorkerScratch& scratch) {
  late = false;
  const std::span<const Step> steps = program.steps;
  EffectQueue queue(program.effects);
  GrayInput gray(colour, scratch.gray);
  if (steps[0].gray == kLumaAlone && colour.channels == 3)
    return {DecodeStatus::failed, "only of a JPEG can the luminance be had alone"};
  Input& first = steps[0].gray != 0 && colour.channels == 3 ? static_cast<Input&>(gray) : colour;
  scratch.effects.tables.begin();
  DecodeResult decoded;
  PlanarTarget before;
  bool is_written = true;
  for (size_t i = 0; i < steps.size(); ++i) {
    PlanarInput later(before.view());
    Input& input = i == 0 ? first : later;
    auto effects = queue.take(static_cast<int32_t>(i));
    if (i > 0 && (steps[i].resizes() || steps[i].pads())) apply_tables(before, scratch);
    const bool is_last = i + 1 == steps.size(), is_part = i > 0 && only_crops(steps[i]);
    const OnTheWay way =
        take_on_the_way(steps[i], effects, input.channels,
                        !steps[i].pads() && (is_last || !is_part), scratch.effects.tables);
    effects = effects.subspan(way.count);
    is_written = is_last && effects.empty();
    if (i == 0)
      first.wanted = way.is_placed ? Outline{} : wanted_of(steps[0], effects, first.scale);
    DecodeResult result;
    scratch.effects.tables.forget_counts();
    if (is_written)
      result = run_step(with_tables(way.place_in(output), scratch), input, way.step, scratch);
    else if (is_part && !way.is_placed)
      before = part_of(before, steps[i]);
    else
      result = run_between(before, memory_beside(before, scratch), input, steps[i], way, effects,
                           scratch);
    if (i == 0) decoded = result;
    if (decoded.status != DecodeStatus::ok) break;
    if (!is_written && !effects.empty()) before = run_effects_on(before, effects, scratch);
  }
  scratch.late.finish();
  if (decoded.status != DecodeStatus::ok) return decoded;

  const auto finishing = queue.take(kFinished);
  late = !is_written && stores_past_cache(output) && finishing.empty();
  if (!is_written) {
    const Output mapped = with_tables(output, scratch);
    if (late)
      scratch.late.begin(mapped, before, memory_of(before, scratch));
    else
      write_finished(mapped, before, scratch);
  }
  run_finished_effects(output, finishing);
  return decoded;
}

}  // namespace penstock
