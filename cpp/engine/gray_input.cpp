#include "engine/gray_input.h"

#include "engine/working_image.h"
#include "kernels/colour/variants.h"

namespace penstock {
namespace {

class GraySink final : public RowSink {
 public:
  explicit GraySink(Buffer& memory) : memory_(memory) {}

  void pass_on_to(RowSink& next) { next_ = &next; }

  void take(const PlanarView& rows, int first_row) override {
    const PlanarTarget gray = working_image(memory_, rows.height, rows.width, 1);
    PENSTOCK_PICK(to_gray)(gray, rows);
    next_->take(gray.view(), first_row);
  }

 private:
  Buffer& memory_;
  RowSink* next_ = nullptr;
};

}  // namespace

GrayInput::GrayInput(Input& colour, Buffer& memory) : colour_(colour), memory_(memory) {
  height = colour.height;
  width = colour.width;
  scale = colour.scale;
  channels = 1;
}

DecodeResult GrayInput::send(const Region& region, const std::function<RowSink&()>& begin) {
  colour_.scale = scale;
  GraySink sink(memory_);
  return colour_.send(region, [&]() -> RowSink& {
    sink.pass_on_to(begin());
    return sink;
  });
}

}  // namespace penstock
