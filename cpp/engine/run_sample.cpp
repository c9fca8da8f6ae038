#include "engine/run_sample.h"

#include <functional>

#include "base/error.h"
#include "kernels/pad.h"

namespace penstock {
namespace {

std::string text(const Region& r) {
  return std::to_string(r.height) + "x" + std::to_string(r.width) + " at (" +
         std::to_string(r.top) + ", " + std::to_string(r.left) + ")";
}

bool inside(const Region& r, int height, int width) {
  return r.top >= 0 && r.left >= 0 && r.height >= 1 && r.width >= 1 && r.height <= height &&
         r.width <= width && r.top <= height - r.height && r.left <= width - r.width;
}

Region crop_of(const Step& s) { return {s.crop_top, s.crop_left, s.crop_height, s.crop_width}; }
Region window_of(const Step& s) {
  return {s.window_top, s.window_left, s.window_height, s.window_width};
}
bool pads(const Step& s) { return (s.pad_left | s.pad_top | s.pad_right | s.pad_bottom) != 0; }
bool resizes(const Step& s) { return s.filter >= 0; }

constexpr int kLargestSide = 1 << 24;

void require(bool fits, size_t step, const std::string& complaint) {
  if (!fits) throw Error("Step " + std::to_string(step) + ": " + complaint + ".");
}

/// Rows of the image that a step reads, on demand.
class Input {
 public:
  virtual ~Input() = default;
  virtual DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) = 0;
  int height = 0;
  int width = 0;
  int channels = 3;
};

class PlanarInput final : public Input {
 public:
  explicit PlanarInput(const PlanarView& image) : image_(image) {
    height = image.height;
    width = image.width;
    channels = image.channels;
  }
  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override {
    feed_planar(begin(), image_, region);
    return {};
  }

 private:
  PlanarView image_;
};

class SourceInput final : public Input {
 public:
  SourceInput(const SampleSource& source, WorkerScratch& scratch)
      : source_(source), scratch_(scratch) {
    height = source.height;
    width = source.width;
    channels = source.header != nullptr && source.header->components == 1 ? 1 : 3;
  }

  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override {
    if (source_.header == nullptr) {
      feed_interleaved(begin(), source_.rgb, source_.rgb_stride, region, scratch_.interleaved);
      return {};
    }
    std::string reason = source_.header->reason;
    if (source_.header->route == Route::baseline) {
      DecodeResult result =
          decode_baseline(begin(), source_.jpeg, *source_.header, region, scratch_.decode);
      if (result.status != DecodeStatus::irregular) return result;
      reason = result.message;
    }
    DecodeResult result =
        decode_libjpeg(begin(), source_.jpeg, *source_.header, region, scratch_.decode);
    if (result.status == DecodeStatus::ok) result.message = reason;
    return result;
  }

 private:
  const SampleSource& source_;
  WorkerScratch& scratch_;
};

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
  ResizeSpec spec;
  spec.in_height = crop.height;
  spec.in_width = crop.width;
  spec.in_channels = input.channels;
  spec.out_height = step.resize_height;
  spec.out_width = step.resize_width;
  spec.window = window;
  spec.filter = static_cast<Filter>(step.filter);
  spec.vertical_first = step.vertical_first != 0;
  spec.flip_horizontal = mirror;
  spec.flip_vertical = invert;
  Region region = needed_input(spec);
  region.top += crop.top;
  region.left += crop.left;
  return input.send(region,
                    [&]() -> RowSink& { return begin_resample(scratch.resample, spec, output); });
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

Region size_after(std::span<const Step> steps, int height, int width) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    require(s.pad_left >= 0 && s.pad_top >= 0 && s.pad_right >= 0 && s.pad_bottom >= 0 &&
                s.pad_left <= kLargestSide && s.pad_top <= kLargestSide &&
                s.pad_right <= kLargestSide && s.pad_bottom <= kLargestSide,
            i, "padding must lie between 0 and " + std::to_string(kLargestSide));
    require(s.pad_mode >= 0 && s.pad_mode <= 3, i,
            "padding mode " + std::to_string(s.pad_mode) + " is unknown");
    const int padded_height = height + s.pad_top + s.pad_bottom;
    const int padded_width = width + s.pad_left + s.pad_right;
    require(inside(crop_of(s), padded_height, padded_width), i,
            "crop " + text(crop_of(s)) + " does not lie in an image of " +
                std::to_string(padded_height) + "x" + std::to_string(padded_width));
    int out_height = s.crop_height, out_width = s.crop_width;
    if (resizes(s)) {
      require(s.filter <= 5, i, "filter " + std::to_string(s.filter) + " is unknown");
      require(s.resize_height >= 1 && s.resize_width >= 1 && s.resize_height <= kLargestSide &&
                  s.resize_width <= kLargestSide,
              i,
              "cannot resize to " + std::to_string(s.resize_height) + "x" +
                  std::to_string(s.resize_width));
      out_height = s.resize_height;
      out_width = s.resize_width;
    }
    require(inside(window_of(s), out_height, out_width), i,
            "window " + text(window_of(s)) + " does not lie in an image of " +
                std::to_string(out_height) + "x" + std::to_string(out_width));
    height = s.window_height;
    width = s.window_width;
  }
  return {0, 0, height, width};
}

DecodeResult run_sample(const Output& output, const SampleSource& source,
                        std::span<const Step> steps, WorkerScratch& scratch) {
  SourceInput first(source, scratch);
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
