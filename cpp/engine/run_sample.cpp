#include "engine/run_sample.h"

#include "engine/step_parts.h"
#include "kernels/copy_rows.h"
#include "kernels/pad.h"

namespace penstock {
namespace {

PlanarTarget working_image(Buffer& buffer, int height, int width, int channels) {
  PlanarTarget image;
  image.height = height;
  image.width = width;
  image.channels = channels;
  image.stride = (width + kRowSlack + 63) / 64 * 64;
  const size_t plane = static_cast<size_t>(image.stride) * height;
  // One row of slack in front and behind lets kernels load around the first and last pixel.
  uint8_t* first = buffer.reserve(plane * channels + 2 * kRowSlack) + kRowSlack;
  for (int c = 0; c < channels; ++c) image.plane[c] = first + c * plane;
  return image;
}

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

DecodeResult run_unpadded(const Output& output, Input& input, const Step& step, const Region& crop,
                          WorkerScratch& scratch) {
  const bool mirror = step.flip_horizontal != 0, invert = step.flip_vertical != 0;
  const Region window = window_of(step);
  if (!resizes(step)) {
    const Region region{crop.top + window.top, crop.left + window.left, window.height,
                        window.width};
    return input.send(region, [&]() -> RowSink& {
      return begin_copy(scratch.copy, input.channels, mirror, invert, output);
    });
  }
  const Region pixels = reduced(crop, input.scale);
  ResizeSpec spec;
  spec.in_height = pixels.height;
  spec.in_width = pixels.width;
  if (input.scale != 1) spec.box = box_within(pixels, crop, input.scale);
  spec.in_channels = input.channels;
  spec.out_height = step.resize_height;
  spec.out_width = step.resize_width;
  spec.window = window;
  spec.filter = static_cast<Filter>(step.filter);
  spec.vertical_first = step.vertical_first != 0;
  spec.flip_horizontal = mirror;
  spec.flip_vertical = invert;
  Region region = needed_input(spec);
  region.top += pixels.top;
  region.left += pixels.left;
  DecodeResult result = input.send(
      region, [&]() -> RowSink& { return begin_resample(scratch.resample, spec, output); });
  if (result.status != DecodeStatus::irregular) return result;
  input.scale = 1;  // libjpeg is to be asked, which does not reduce
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
  if (!pads(step)) return input.channels;
  const PadSpec spec = pad_spec_of(step);
  const bool gray_fill = spec.mode != PadMode::constant ||
                         (spec.fill[0] == spec.fill[1] && spec.fill[1] == spec.fill[2]);
  return input.channels == 1 && gray_fill ? 1 : 3;
}

DecodeResult run_step(const Output& output, Input& input, const Step& step,
                      WorkerScratch& scratch) {
  if (!pads(step)) return run_unpadded(output, input, step, crop_of(step), scratch);

  const PlanarTarget whole =
      working_image(scratch.unpadded, input.height, input.width, input.channels);
  const DecodeResult decoded = input.send({0, 0, input.height, input.width}, [&]() -> RowSink& {
    return begin_copy(scratch.copy, input.channels, false, false, output_to(whole));
  });
  if (decoded.status != DecodeStatus::ok) return decoded;

  const PlanarTarget padded =
      working_image(scratch.padded, step.crop_height, step.crop_width, channels_after(input, step));
  pad(padded, whole.view(), pad_spec_of(step), crop_of(step));

  PlanarInput rest(padded.view());
  run_unpadded(output, rest, step, {0, 0, step.crop_height, step.crop_width}, scratch);
  return decoded;
}

}  // namespace

DecodeResult run_sample(const Output& output, const SampleSource& source,
                        std::span<const Step> steps, WorkerScratch& scratch) {
  SourceInput first(source, steps[0].dct_scale, scratch.input);
  if (steps.size() == 1) return run_step(output, first, steps[0], scratch);

  DecodeResult decoded;
  PlanarTarget before;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    PlanarInput later(before.view());
    Input& input = i == 0 ? static_cast<Input&>(first) : later;
    if (i + 1 == steps.size()) {
      run_step(output, input, step, scratch);
      break;
    }
    const PlanarTarget target = working_image(scratch.working[i & 1], step.window_height,
                                              step.window_width, channels_after(input, step));
    const DecodeResult result = run_step(output_to(target), input, step, scratch);
    if (i == 0) {
      decoded = result;
      if (decoded.status != DecodeStatus::ok) return decoded;
    }
    before = target;
  }
  return decoded;
}

}  // namespace penstock
