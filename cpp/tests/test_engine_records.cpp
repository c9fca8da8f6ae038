// Records through the engine's threads: the pixels of their files, and no fault when damaged.
#include <zlib.h>

#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "check.h"
#include "engine/engine.h"
#include "make_jpeg.h"
#include "records/jpeg_record.h"

using namespace penstock;

namespace {

constexpr int kHeight = 44, kWidth = 71;

std::vector<uint8_t> file_of(unsigned seed) {
  testing::JpegSpec spec;
  spec.height = kHeight;
  spec.width = kWidth;
  spec.horizontal[0] = spec.vertical[0] = 2;
  spec.quality = 92;
  return testing::make_jpeg(spec, seed);
}

std::vector<uint8_t> record_of(const std::vector<uint8_t>& file) {
  RecordScratch scratch;
  JpegRecord record = encode_record(file, scratch);
  CHECK(record.is_dct && record.is_identical);
  return std::move(record.dct);
}

/// The pixels that the engine makes of a record, and whether it said that all is well.
struct Result {
  std::vector<uint8_t> pixels;
  bool ok;
};

Result run(Engine& engine, std::span<const uint8_t> bytes, Storage storage) {
  const auto part = engine.open_mapped({{bytes, storage, kHeight, kWidth}});
  engine.read_mapped(0, part, {{0, {5, 0, 30, kWidth}}});
  part->wait();
  if (!part->samples[0].problem.empty()) {
    engine.recycle(*part);
    return {{}, false};
  }
  Result result{std::vector<uint8_t>(30 * 40 * 3), true};
  Step step{};
  step.crop_top = 5;
  step.crop_left = 11;
  step.crop_height = step.window_height = 30;
  step.crop_width = step.window_width = 40;
  step.filter = -1;
  step.dct_scale = 1;
  Output output;
  output.data = result.pixels.data();
  output.row_stride = 40 * 3;
  output.height = 30;
  output.width = 40;
  output.layout = Layout::hwc;
  part->views = {{{{&step, 1}, {}}, output}};
  part->assignments = {{0, part->views}};
  engine.run(0, part);
  part->wait();
  result.ok = part->samples[0].result.status == DecodeStatus::ok;
  engine.recycle(*part);
  return result;
}

TEST(a_record_gives_the_pixels_of_its_file) {
  Engine engine(2, 2);
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::vector<uint8_t> file = file_of(seed), record = record_of(file);
    const Result from_tiles = run(engine, record, Storage::dct);
    const Result from_jpeg = run(engine, file, Storage::jpeg);
    CHECK(from_tiles.ok && from_jpeg.ok);
    CHECK(from_tiles.pixels == from_jpeg.pixels);
  }
}

/// A copy of exactly the record's size, so that a sanitizer sees every byte read outside.
TEST(flipped_bits_never_cause_a_fault) {
  Engine engine(2, 2);
  const std::vector<uint8_t> record = record_of(file_of(9));
  std::mt19937 random(1);
  for (int i = 0; i < 10000; ++i) {
    const size_t bit = random() % (8 * record.size());
    const auto damaged = std::make_unique<uint8_t[]>(record.size());
    std::copy(record.begin(), record.end(), damaged.get());
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    run(engine, {damaged.get(), record.size()}, Storage::dct);
  }
}

TEST(every_shorter_record_is_survived) {
  Engine engine(2, 2);
  const std::vector<uint8_t> record = record_of(file_of(3));
  for (size_t size = 0; size < record.size(); ++size) {
    const auto cut = std::make_unique<uint8_t[]>(size);
    std::copy_n(record.begin(), size, cut.get());
    CHECK(!run(engine, {cut.get(), size}, Storage::dct).ok);
  }
}

/// Pixels that differ from row to row, as a zlib stream of the whole image.
std::vector<uint8_t> deflated(const std::vector<uint8_t>& pixels) {
  uLongf size = compressBound(static_cast<uLong>(pixels.size()));
  std::vector<uint8_t> stream(size);
  CHECK(compress(stream.data(), &size, pixels.data(), static_cast<uLong>(pixels.size())) == Z_OK);
  stream.resize(size);
  return stream;
}

std::vector<uint8_t> some_pixels(int rows) {
  std::vector<uint8_t> pixels(static_cast<size_t>(rows) * kWidth * 3);
  std::mt19937 random(7);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(i / (kWidth * 3) * 4 + random() % 4);
  return pixels;
}

TEST(deflated_pixels_are_the_raw_ones) {
  Engine engine(2, 2);
  const std::vector<uint8_t> pixels = some_pixels(kHeight), stream = deflated(pixels);
  for (int i = 0; i < 3; ++i) {  // a worker keeps the memory that it inflates with
    const Result inflated = run(engine, stream, Storage::deflated);
    const Result raw = run(engine, pixels, Storage::raw);
    CHECK(inflated.ok && raw.ok);
    CHECK(inflated.pixels == raw.pixels);
  }
}

TEST(a_stream_without_the_rows_that_are_needed_is_refused) {
  Engine engine(2, 2);
  // The crop ends with row 35. What is behind it is not looked at, but a shorter image is noticed.
  CHECK(!run(engine, deflated(some_pixels(34)), Storage::deflated).ok);
  CHECK(!run(engine, deflated(some_pixels(35)), Storage::deflated).ok);
  CHECK(run(engine, deflated(some_pixels(36)), Storage::deflated).ok);
  CHECK(!run(engine, some_pixels(kHeight), Storage::deflated).ok);
  CHECK(!run(engine, {}, Storage::deflated).ok);
}

TEST(damaged_streams_never_cause_a_fault) {
  Engine engine(2, 2);
  const std::vector<uint8_t> stream = deflated(some_pixels(kHeight));
  std::mt19937 random(2);
  for (int i = 0; i < 4000; ++i) {
    const size_t size = i % 2 == 0 ? stream.size() : random() % stream.size();
    const auto damaged = std::make_unique<uint8_t[]>(size);
    std::copy_n(stream.begin(), size, damaged.get());
    if (size > 0) damaged[random() % size] ^= static_cast<uint8_t>(1 << random() % 8);
    run(engine, {damaged.get(), size}, Storage::deflated);
  }
}

}  // namespace
