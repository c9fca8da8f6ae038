#include "engine/input.h"

#include "kernels/colour/variants.h"
#include "kernels/copy_rows.h"

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

PlanarInput::PlanarInput(const PlanarView& image) : image_(image) {
  height = image.height;
  width = image.width;
  channels = image.channels;
}

PlanarInput::PlanarInput(const PlanarView& image, int top, int left, const Input& whole)
    : image_(image), top_(top), left_(left) {
  height = whole.height;
  width = whole.width;
  channels = whole.channels;
  scale = whole.scale;
}

DecodeResult PlanarInput::send(const Region& region, const std::function<RowSink&()>& begin) {
  feed_planar(begin(), image_,
              {region.top - top_, region.left - left_, region.height, region.width});
  return {};
}

SourceInput::SourceInput(const SampleSource& source, const Reduction& reduction,
                         InputScratch& scratch, bool luma_alone)
    : source_(source), scratch_(scratch), luma_alone_(luma_alone) {
  height = source.height;
  width = source.width;
  dc_alone = reduction.dc_alone;
  if (source.tiles != nullptr) {
    scale = reduction.scale;
    channels = source.tiles->components();
  } else if (source.header != nullptr) {
    // Others are mostly progressive, and cost nearly the same at any size.
    if (source.header->route == Route::baseline) scale = reduction.scale;
    channels = luma_alone || source.header->components == 1 ? 1 : 3;
  }
}

DecodeResult SourceInput::send(const Region& region, const std::function<RowSink&()>& begin) {
  if (source_.tiles != nullptr)
    return decode_tiles(begin(), *source_.tiles, region, scratch_.tiles, reduction(), wanted);
  if (source_.header != nullptr) return send_jpeg(region, begin);
  feed_interleaved(begin(), source_.rgb, source_.rgb_stride, region, scratch_.interleaved);
  return {};
}

DecodeResult SourceInput::send_jpeg(const Region& region, const std::function<RowSink&()>& begin) {
  std::string reason = source_.header->reason;
  if (source_.header->route == Route::baseline) {
    DecodeResult result = decode_baseline(begin(), source_.jpeg, *source_.header, region,
                                          scratch_.decode, reduction(), luma_alone_, source_.rows);
    if (result.status != DecodeStatus::irregular || scale != 1) return result;
    reason = result.message;
  }
  if (source_.header->is_own_progressive) {
    DecodeResult result = decode_progressive(begin(), source_.jpeg, *source_.header, region,
                                             scratch_.decode, luma_alone_);
    if (result.status != DecodeStatus::irregular) return result;
  }
  DecodeResult result =
      decode_libjpeg(begin(), source_.jpeg, *source_.header, region, scratch_.decode, luma_alone_);
  if (result.status == DecodeStatus::ok) result.message = reason;
  return result;
}

GrayInput::GrayInput(Input& colour, Buffer& memory) : colour_(colour), memory_(memory) {
  height = colour.height;
  width = colour.width;
  scale = colour.scale;
  channels = 1;
}

DecodeResult GrayInput::send(const Region& region, const std::function<RowSink&()>& begin) {
  colour_.scale = scale;
  colour_.wanted = wanted;
  GraySink sink(memory_);
  return colour_.send(region, [&]() -> RowSink& {
    sink.pass_on_to(begin());
    return sink;
  });
}

}  // namespace penstock
