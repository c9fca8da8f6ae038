#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "engine/run_sample.h"
#include "guard/case.h"
#include "guard/photo.h"
#include "kernels/output.h"
#include "records/jpeg_record.h"

namespace penstock::guard {
namespace {

// A photo as large as most of ImageNet's, and the box of a usual RandomResizedCrop in it.
constexpr int kHeight = 375, kWidth = 500, kSide = 224;
constexpr Region kBox{40, 90, 290, 320};
constexpr int kSmallSide = 32, kSmallImages = 64;

/// Takes a box and resizes it to a square.
Step resized_crop(const Region& box, Filter filter) {
  Step step{};
  step.crop_top = box.top;
  step.crop_left = box.left;
  step.crop_height = box.height;
  step.crop_width = box.width;
  step.resize_height = step.resize_width = step.window_height = step.window_width = kSide;
  step.filter = static_cast<int32_t>(filter);
  step.dct_scale = 1;
  return step;
}

/// Pads by 4 pixels and takes a box of the size of the image, mirrored: CIFAR's augmentation.
Step padded_crop(int top, int left, bool flip) {
  Step step{};
  step.pad_left = step.pad_top = step.pad_right = step.pad_bottom = 4;
  step.crop_top = top;
  step.crop_left = left;
  step.crop_height = step.crop_width = step.window_height = step.window_width = kSmallSide;
  step.filter = -1;
  step.flip_horizontal = flip;
  step.dct_scale = 1;
  return step;
}

FinalPass imagenet_pass() {
  constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kStd[3] = {0.229f, 0.224f, 0.225f};
  return make_final_pass(1.0f / 255, kMean, kStd);
}

/// Slots of a batch, written as a batch that is larger than the cache.
struct Slots {
  Slots(int slot_count, int side, Element slot_element)
      : element(slot_element),
        slot_bytes(size_t{3} * side * side * size_of(slot_element)),
        side_px(side) {
    memory.reserve(slot_count * slot_bytes);
  }
  Output slot(int index) {
    Output output;
    output.data = memory.data() + index * slot_bytes;
    output.row_stride = side_px * size_of(element);
    output.plane_stride = side_px * output.row_stride;
    output.height = output.width = side_px;
    output.element = element;
    output.pass = &pass;
    output.past_cache = true;
    return output;
  }

  Element element;
  size_t slot_bytes;
  int side_px;
  Buffer memory;
  FinalPass pass = imagenet_pass();
};

/// What a worker has, shared by all cases.
struct Bench {
  std::vector<uint8_t> pixels = make_photo(kHeight, kWidth);
  std::vector<uint8_t> file = with_slack(photo_file(kHeight, kWidth));
  std::vector<uint8_t> progressive = with_slack(photo_file(kHeight, kWidth, true));
  std::vector<uint8_t> record;
  RecordScratch packing;
  WorkerScratch scratch;
  Slots floats{1, kSide, Element::float32};
  Slots bytes{1, kSide, Element::uint8};
  Slots small{kSmallImages, kSmallSide, Element::float32};
  Buffer planes;

  static std::vector<uint8_t> with_slack(std::vector<uint8_t> bytes) {
    bytes.reserve(bytes.size() + kRowSlack);
    return bytes;
  }
};

void run(Bench& bench, const Output& output, Input& input, const Step& step) {
  bool late = false;
  if (run_program(late, output, input, {{&step, 1}, {}}, bench.scratch).status != DecodeStatus::ok)
    fail("an image was not decoded");
}

void run_tiles(Bench& bench, const Output& output) {
  TileImage tiles;
  if (const char* problem = tiles.parse(bench.record)) fail(problem);
  SampleSource source;
  source.tiles = &tiles;
  source.height = kHeight;
  source.width = kWidth;
  SourceInput input(source, {}, bench.scratch.input);
  run(bench, output, input, resized_crop(kBox, Filter::bilinear));
}

void run_file(Bench& bench, const Output& output, std::span<const uint8_t> file) {
  const JpegHeader header = read_jpeg_header(file);
  SampleSource source;
  source.jpeg = file;
  source.header = &header;
  source.height = kHeight;
  source.width = kWidth;
  SourceInput input(source, {}, bench.scratch.input);
  run(bench, output, input, resized_crop(kBox, Filter::bilinear));
}

/// The photo as planes, so that a resize is counted without the way there.
PlanarView planes_of(Bench& bench) {
  const PlanarTarget image = working_image(bench.planes, kHeight, kWidth, 3);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < 3; ++c)
        image.row(c, y)[x] = bench.pixels[3 * (size_t{1} * y * kWidth + x) + c];
  return image.view();
}

void run_small(Bench& bench) {
  constexpr size_t kImageBytes = size_t{3} * kSmallSide * kSmallSide;
  for (int i = 0; i < kSmallImages; ++i) {
    SampleSource source;
    source.rgb = bench.pixels.data() + i * kImageBytes;
    source.rgb_stride = 3 * kSmallSide;
    source.height = source.width = kSmallSide;
    SourceInput input(source, {}, bench.scratch.input);
    run(bench, bench.small.slot(i), input, padded_crop(i % 9, i / 8, i % 2 == 0));
  }
}

void pack(Bench& bench) {
  const JpegRecord record = encode_record(bench.file, bench.packing);
  if (!record.is_dct || !record.is_identical) fail("the photo did not become a record");
}

}  // namespace

void add_image_cases(std::vector<Case>& cases) {
  const auto bench = std::make_shared<Bench>();
  bench->record = encode_record(bench->file, bench->packing).dct;
  const PlanarView planes = planes_of(*bench);
  const auto add = [&](const char* name, auto body) {
    cases.push_back({name, {}, [bench, body] { body(*bench); }});
  };
  const auto add_resize = [&](const char* name, Filter filter, Weights weights) {
    add(name, [planes, filter, weights](Bench& b) {
      PlanarInput input(planes);
      Step step = resized_crop({0, 0, kHeight, kWidth}, filter);
      step.weights = static_cast<int32_t>(weights);
      run(b, b.bytes.slot(0), input, step);
    });
  };
  add("tiles to float32", [](Bench& b) { run_tiles(b, b.floats.slot(0)); });
  add("tiles to uint8", [](Bench& b) { run_tiles(b, b.bytes.slot(0)); });
  add("JPEG to float32", [](Bench& b) { run_file(b, b.floats.slot(0), b.file); });
  add("progressive JPEG to float32",
      [](Bench& b) { run_file(b, b.floats.slot(0), b.progressive); });
  add("64 raw 32x32 to float32", run_small);
  add("pack a JPEG", pack);
  add("checksum", [](Bench& b) { (void)checksum(0, b.file); });
  add_resize("resize, nearest", Filter::nearest, Weights::pillow);
  add_resize("resize, bilinear", Filter::bilinear, Weights::pillow);
  add_resize("resize, bicubic", Filter::bicubic, Weights::pillow);
  add_resize("resize, lanczos", Filter::lanczos, Weights::pillow);
  add_resize("resize, bilinear, OpenCV's", Filter::bilinear, Weights::opencv);
}

}  // namespace penstock::guard
