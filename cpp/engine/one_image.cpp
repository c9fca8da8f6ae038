#include "engine/one_image.h"

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

}  // namespace

void run_on_one(const Output& output, const ForeignPixels& source, const Program& program,
                WorkerScratch& scratch) {
  ForeignInput input(source, scratch.input.interleaved);
  bool late = false;
  run_program(late, output, input, program, scratch);
  if (late) scratch.late.finish();
}

}  // namespace penstock
