// Several programs for one sample: each gives what it gives alone, whatever they share.
#include <cstring>
#include <random>
#include <vector>

#include "check.h"
#include "engine/run_views.h"
#include "guarded_output.h"
#include "jpeg_cases.h"
#include "records/jpeg_record.h"

using namespace penstock;

namespace {

/// A program and the memory that it lies in.
struct OwnProgram {
  std::vector<Step> steps;
  std::vector<Effect> effects;

  Program program() const { return {steps, effects}; }
};

int draw(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

Step random_step(std::mt19937& random, int height, int width, int scale) {
  Step step{};
  const Region crop = testing::random_region(random, height, width);
  step.crop_top = crop.top;
  step.crop_left = crop.left;
  step.crop_height = step.resize_height = step.window_height = crop.height;
  step.crop_width = step.resize_width = step.window_width = crop.width;
  step.filter = -1;
  step.dct_scale = 1;
  step.flip_horizontal = draw(random, 0, 1);
  step.flip_vertical = draw(random, 0, 1);
  if (scale == 1 && draw(random, 0, 3) == 0) return step;
  step.filter = draw(random, 2, 3);
  step.dct_scale = scale;
  step.resize_height = draw(random, 1, 40);
  step.resize_width = draw(random, 1, 40);
  const Region window = testing::random_region(random, step.resize_height, step.resize_width);
  step.window_top = window.top;
  step.window_left = window.left;
  step.window_height = window.height;
  step.window_width = window.width;
  return step;
}

OwnProgram random_program(std::mt19937& random, int height, int width, int scale) {
  OwnProgram own;
  own.steps.push_back(random_step(random, height, width, scale));
  if (scale == 1 && draw(random, 0, 4) == 0) {  // a border, around the whole image
    Step& step = own.steps[0];
    step = {};
    step.pad_left = step.pad_top = 3;
    step.crop_height = step.resize_height = step.window_height = height + 3;
    step.crop_width = step.resize_width = step.window_width = width + 3;
    step.filter = -1;
    step.dct_scale = 1;
  }
  const int rows = own.steps[0].window_height, columns = own.steps[0].window_width;
  for (const auto kind : {EffectKind::grayscale, EffectKind::invert})
    if (draw(random, 0, 2) == 0) own.effects.push_back({kind, 0, rows, columns, {}});
  return own;
}

void check_views(std::mt19937& random, const SampleSource& source, bool may_reduce) {
  WorkerScratch scratch;
  const int count = draw(random, 1, 6);
  // Views of a group share a scale.
  const int scales[] = {may_reduce ? 1 << draw(random, 0, 3) : 1, 1, 1};
  std::vector<OwnProgram> programs;
  std::vector<View> views;
  std::vector<GuardedOutput> together, apart;
  const float mean[3] = {0.4f, 0.5f, 0.6f}, deviation[3] = {0.2f, 0.3f, 0.4f};
  const FinalPass pass = make_final_pass(1.0f / 255, mean, deviation);
  for (int i = 0; i < count; ++i) {
    const int group = draw(random, kAlone, 2);
    const int scale = group == kAlone ? 1 : scales[group];
    programs.push_back(random_program(random, source.height, source.width, scale));
    views.push_back({{}, {}, group});
  }
  for (size_t i = 0; i < views.size(); ++i) {
    views[i].program = programs[i].program();
    const Region size = size_after(views[i].program, source.height, source.width);
    const bool past_cache = draw(random, 0, 1) == 1;
    together.emplace_back(size.height, size.width, 3, Layout::chw, Element::float32, &pass, 1,
                          past_cache);
    apart.emplace_back(size.height, size.width, 3, Layout::chw, Element::float32, &pass, 1,
                       past_cache);
  }
  for (size_t i = 0; i < views.size(); ++i) views[i].output = together[i].output;
  bool late = false;
  CHECK(run_views(late, views, source, scratch).status == DecodeStatus::ok);
  if (late) scratch.late.finish();
  for (size_t i = 0; i < views.size(); ++i) {
    CHECK(run_sample(late, apart[i].output, source, views[i].program, scratch).status ==
          DecodeStatus::ok);
    if (late) scratch.late.finish();
    CHECK(together[i].result() == apart[i].result());
  }
}

}  // namespace

TEST_EACH_ISA(views_of_a_jpeg_are_what_each_is_alone) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const auto& factors = testing::kFactors[round % 4];
    testing::JpegSpec spec = testing::spec_of(draw(random, 1, 150), draw(random, 1, 150), factors);
    if (round % 7 == 6) spec.components = 1;
    spec.progressive = round % 5 == 4;  // libjpeg decodes it
    std::vector<uint8_t> file = testing::make_jpeg(spec, static_cast<unsigned>(round));
    const size_t size = file.size();
    file.resize(size + 64);  // the decoder may read a little past the end
    const JpegHeader header = read_jpeg_header({file.data(), size});
    SampleSource source;
    source.jpeg = {file.data(), size};
    source.header = &header;
    source.height = spec.height;
    source.width = spec.width;
    check_views(random, source, true);
  }
}

TEST_EACH_ISA(views_of_tiles_and_of_pixels_are_what_each_is_alone) {
  std::mt19937 random(4);
  for (int round = 0; round < 40; ++round) {
    const auto& factors = testing::kFactors[round % 4];
    const testing::JpegSpec spec =
        testing::spec_of(draw(random, 1, 150), draw(random, 1, 150), factors);
    SampleSource source;
    source.height = spec.height;
    source.width = spec.width;
    RecordScratch scratch;
    const JpegRecord record =
        encode_record(testing::make_jpeg(spec, static_cast<unsigned>(round)), scratch);
    TileImage tiles;
    CHECK(record.is_dct && tiles.parse(record.dct) == nullptr);
    source.tiles = &tiles;
    check_views(random, source, true);

    const std::vector<uint8_t> pixels = testing::make_pixels(spec, static_cast<unsigned>(round));
    source.tiles = nullptr;
    source.rgb = pixels.data();
    source.rgb_stride = ptrdiff_t{3} * spec.width;
    check_views(random, source, false);
  }
}

TEST(a_damaged_jpeg_fails_in_all_its_views) {
  const testing::JpegSpec spec = testing::spec_of(90, 80, testing::kFactors[3]);
  std::vector<uint8_t> file = testing::make_jpeg(spec, 1);
  const size_t cut = file.size() / 2;
  std::memset(file.data() + cut, 0, file.size() - cut);
  const JpegHeader header = read_jpeg_header({file.data(), cut});
  SampleSource source;
  source.jpeg = {file.data(), cut};
  source.header = &header;
  source.height = spec.height;
  source.width = spec.width;
  Step step{};
  step.crop_height = step.resize_height = step.window_height = 90;
  step.crop_width = step.resize_width = step.window_width = 80;
  step.filter = -1;
  step.dct_scale = 1;
  std::vector<uint8_t> slots[2];
  std::vector<View> views;
  for (std::vector<uint8_t>& slot : slots) {
    slot.resize(90 * 80 * 3);
    Output output;
    output.data = slot.data();
    output.row_stride = 80 * 3;
    output.height = 90;
    output.width = 80;
    output.layout = Layout::hwc;
    views.push_back({{{&step, 1}, {}}, output, 0});
  }
  WorkerScratch scratch;
  bool late = true;
  CHECK(run_views(late, views, source, scratch).status != DecodeStatus::ok);
  CHECK(!late);
}
