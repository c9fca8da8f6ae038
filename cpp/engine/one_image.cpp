#include "engine/one_image.h"

#include <algorithm>

#include "kernels/copy_rows.h"

namespace penstock {
namespace {

class ForeignInput final : public Input {
 public:
  ForeignInput(const ForeignPixels& pixels, Buffer& memory) : pixels_(pixels), memory_(memory) {
    height = pixels.height;
    width = pixels.width;
    channels = pixels.channels;
  }

  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override {
    if (pixels_.layout != Layout::chw) {
      feed_interleaved(begin(), pixels_.data, pixels_.row_stride, region, memory_,
                       pixels_.layout == Layout::rgbx ? 4 : 3);
      return {};
    }
    PlanarView planes;
    for (int c = 0; c < channels; ++c) planes.plane[c] = pixels_.data + c * pixels_.plane_stride;
    planes.stride = pixels_.row_stride;
    planes.height = height;
    planes.width = width;
    planes.channels = channels;
    feed_foreign_planes(begin(), planes, region, memory_);
    return {};
  }

 private:
  const ForeignPixels& pixels_;
  Buffer& memory_;
};

class LutSink final : public RowSink {
 public:
  LutSink(const Output& output, int channels, const Lut& table, Buffer& memory)
      : table_(table), memory_(memory), height_(output.height) {
    writer_.begin(output, channels);
  }

  void take(const PlanarView& rows, int first_row) override {
    // Few rows at a time, which stay in the core's cache.
    for (int y = 0; y < rows.height; y += kBandRows) {
      PlanarView band = rows;
      band.height = std::min(kBandRows, rows.height - y);
      for (int c = 0; c < rows.channels; ++c) band.plane[c] = rows.row(c, y);
      const PlanarTarget out = working_image(memory_, band.height, band.width, band.channels);
      apply_lut(out, band, table_);
      for (int r = 0; r < band.height; ++r) {
        const uint8_t* planes[3] = {};
        for (int c = 0; c < band.channels; ++c) planes[c] = out.row(c, r);
        writer_.write(first_row + y + r, planes);
      }
    }
    if (first_row + rows.height == height_) writer_.finish();
  }

 private:
  const Lut& table_;
  Buffer& memory_;
  int height_;
  RowWriter writer_;
};

}  // namespace

void look_up_on_one(const Output& output, const ForeignPixels& source, const Lut& table,
                    WorkerScratch& scratch) {
  ForeignInput input(source, scratch.input.interleaved);
  LutSink sink(output, source.channels, table, scratch.working[0]);
  input.send({0, 0, source.height, source.width}, [&]() -> RowSink& { return sink; });
}

void resize_one_like_torch(const Output& output, const ForeignPixels& source, Filter filter,
                           bool antialias, WorkerScratch& scratch) {
  ResizeSpec spec;
  spec.in_height = source.height;
  spec.in_width = source.width;
  spec.in_channels = source.channels;
  spec.out_height = output.height;
  spec.out_width = output.width;
  spec.window = {0, 0, output.height, output.width};
  spec.filter = filter;
  spec.weights = antialias ? Weights::torch_antialiased : Weights::torch_direct;
  ForeignInput input(source, scratch.input.interleaved);
  input.send(needed_input(spec),
             [&]() -> RowSink& { return begin_resample(scratch.resample, spec, output); });
}

void run_on_one(const Output& output, const ForeignPixels& source, const Program& program,
                WorkerScratch& scratch) {
  ForeignInput input(source, scratch.input.interleaved);
  bool late = false;
  run_program(late, output, input, program, scratch);
  if (late) scratch.late.finish();
}

}  // namespace penstock
