// Coefficient tiles: what goes in comes out, and the pixels are those of the JPEG decoders.
#include <numeric>

#include "base/cpu.h"
#include "codec/jpeg_decode.h"
#include "tile_cases.h"
#include "tiles/tile_parts.h"

namespace penstock::testing {
namespace {

TileScratch scratch;  // shared, so that what one image leaves behind meets the next

bool are_same(const penstock::CoefficientImage& a, const penstock::CoefficientImage& b) {
  if (a.height != b.height || a.width != b.width || a.components != b.components ||
      a.colour != b.colour)
    return false;
  for (int c = 0; c < a.components; ++c)
    if (a.component[c].coefficients != b.component[c].coefficients ||
        !std::equal(a.component[c].quant, a.component[c].quant + 64, b.component[c].quant))
      return false;
  return true;
}

/// Coefficients come back; all variants give the scalar one's record and pixels.
void check_image(std::mt19937& random, const penstock::CoefficientImage& image) {
  force_isa(Isa::scalar);
  const std::vector<uint8_t> record = record_of(image);
  const Region part = random_region(random, image.height, image.width);
  Pixels expected, expected_part;
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    CHECK(record_of(image) == record);
    TileImage tiles;
    CHECK(tiles.parse(record) == nullptr);
    penstock::CoefficientImage back;
    CHECK(read_tiles(back, tiles, scratch) == nullptr);
    CHECK(are_same(back, image));
    const Pixels whole = decode(record, {0, 0, image.height, image.width}, scratch);
    if (isa == Isa::scalar) expected = whole;
    CHECK(whole == expected);
    CHECK(decode(record, part, scratch) == expected.cut(part));
  }
}

/// A quadrilateral around some places of an image of this size, and beyond it.
Outline random_outline(std::mt19937& random, int height, int width) {
  const auto place = [&](int size) {
    return static_cast<double>(random() % static_cast<unsigned>(2 * size)) - size / 2.0;
  };
  // The corners of a slanted square are in their order around it.
  const double x = place(width), y = place(height), dx = place(width) / 2, dy = place(height) / 2;
  Outline outline;
  outline.is_all = false;
  outline.reach = static_cast<int>(random() % 4);
  const Outline::Corner corners[4] = {
      {x, y}, {x + dx, y + dy}, {x + dx - dy, y + dy + dx}, {x - dy, y + dx}};
  std::copy_n(corners, 4, outline.corner);
  return outline;
}

/// What is wanted of a region is right, whatever lay in memory before.
TEST(outlines) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round)
    for (const Factors& factors : kFactors) {
      const int height = 1 + static_cast<int>(random() % 200);
      const int width = 1 + static_cast<int>(random() % 200);
      const std::vector<uint8_t> record =
          record_of(random_coefficients(random, height, width, factors, Colour::ycbcr, 5));
      const std::vector<uint8_t> other =
          record_of(random_coefficients(random, height, width, factors, Colour::ycbcr, 5));
      TileImage tiles;
      CHECK(tiles.parse(record) == nullptr);
      for (const Reduction reduction : {Reduction{1}, {2}, {4}, {8}, {8, true}}) {
        const int scale = reduction.scale;
        const Region region =
            random_region(random, reduced_size(height, scale), reduced_size(width, scale));
        const Outline wanted = random_outline(random, region.height, region.width);
        const Pixels expected = decode(record, region, scratch, reduction);
        decode(other, region, scratch, reduction);
        CollectRows sink;
        CHECK(decode_tiles(sink, tiles, region, scratch, reduction, wanted).status ==
              DecodeStatus::ok);
        for (int y = 0; y < region.height; ++y) {
          const auto [begin, end] = wanted.needed(y, y + 1, 0, region.width);
          if (begin == end) continue;
          const Region row{y, begin, 1, end - begin};
          CHECK(sink.pixels().cut(row) == expected.cut(row));
        }
      }
    }
}

/// A record of which only the head and the parts for some rows are there decodes to those rows.
TEST(parts) {
  std::mt19937 random(8);
  for (int round = 0; round < 60; ++round)
    for (const Factors& factors : kFactors) {
      const int height = 1 + static_cast<int>(random() % 300);
      const int width = 1 + static_cast<int>(random() % 100);
      const Colour colour = round % 8 == 0 ? Colour::gray : Colour::ycbcr;
      const std::vector<uint8_t> record =
          record_of(random_coefficients(random, height, width, factors, colour, 5));
      TileImage tiles;
      CHECK(tiles.parse(record) == nullptr);
      const TileParts parts = tile_parts(tiles);
      CHECK(std::accumulate(parts.bytes.begin(), parts.bytes.end(), uint64_t{0}) == record.size());
      for (const Reduction reduction : {Reduction{1}, {2}, {4}, {8}, {8, true}}) {
        const int scale = reduction.scale, around = parts.around * scale;
        const Region region =
            random_region(random, reduced_size(height, scale), reduced_size(width, scale));
        const int top = std::max(0, region.top * scale - around);
        const int bottom = std::min(height, (region.top + region.height) * scale + around);
        std::vector<uint8_t> doctored(record.size());
        for (uint8_t& byte : doctored) byte = static_cast<uint8_t>(random());
        uint64_t place = 0;
        for (size_t part = 0; part + 1 < parts.bytes.size(); ++part) {
          const int first_row = (static_cast<int>(part) - 1) * parts.rows;
          if (part == 0 || (first_row < bottom && first_row + parts.rows > top))
            std::copy_n(record.data() + place, parts.bytes[part], doctored.data() + place);
          place += parts.bytes[part];
        }
        CHECK(decode(doctored, region, scratch, reduction) ==
              decode(record, region, scratch, reduction));
      }
    }
}

TEST(random_coefficients) {
  std::mt19937 random(1);
  const int sides[] = {1, 2, 7, 8, 9, 16, 17, 31, 40, 65, 130};
  const auto side = [&] { return sides[random() % std::size(sides)]; };
  for (int round = 0; round < 40; ++round)
    for (const Factors& factors : kFactors)
      for (const Colour colour : {Colour::ycbcr, Colour::rgb, Colour::gray})
        if (colour != Colour::gray || &factors == kFactors)
          check_image(random, random_coefficients(random, side(), side(), factors, colour,
                                                  1 + static_cast<int>(random() % 15)));
}

TEST(extremes) {
  std::mt19937 random(2);
  for (const int value : {1, -1, 127, -127, 128, -128, 32767, -32767}) {
    penstock::CoefficientImage image =
        random_coefficients(random, 33, 70, kFactors[3], Colour::ycbcr, 3);
    for (int c = 0; c < 3; ++c) {
      std::vector<int16_t>& coefficients = image.component[c].coefficients;
      std::fill(coefficients.begin(), coefficients.end(), static_cast<int16_t>(value));
      coefficients[0] = -32768;
      coefficients[64] = 32767;
    }
    check_image(random, image);
    image.component[1].coefficients.assign(image.component[1].coefficients.size(), 0);
    check_image(random, image);
    image.component[0].coefficients[5] = -32768;
    std::vector<uint8_t> record;
    CHECK(encode_tiles(record, image) != nullptr);
  }
}

/// All of the decoders: libjpeg's pixels, and decode_baseline's at reduced sizes.
void check_jpeg(std::mt19937& random, const JpegSpec& spec, DecodeScratch& jpeg_scratch) {
  const std::vector<uint8_t> jpeg = make_jpeg(spec, static_cast<unsigned>(random()));
  const std::vector<uint8_t> record = record_of(coefficients_of(jpeg));
  CollectRows reference;
  CHECK(decode_libjpeg_whole(reference, jpeg, jpeg_scratch).status == DecodeStatus::ok);
  const JpegHeader header = read_jpeg_header(jpeg);
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    CHECK(decode(record, {0, 0, spec.height, spec.width}, scratch) == reference.pixels());
    const Region region = random_region(random, spec.height, spec.width);
    CHECK(decode(record, region, scratch) == reference.pixels().cut(region));
    if (header.route != Route::baseline) continue;
    for (const Reduction reduction : {Reduction{2}, {4}, {8}, {8, true}}) {
      const int scale = reduction.scale;
      const Region reduced =
          random_region(random, reduced_size(spec.height, scale), reduced_size(spec.width, scale));
      CollectRows sink;
      CHECK(decode_baseline(sink, jpeg, header, reduced, jpeg_scratch, reduction).status ==
            DecodeStatus::ok);
      CHECK(decode(record, reduced, scratch, reduction) == sink.pixels());
    }
  }
}

TEST(jpegs) {
  std::mt19937 random(3);
  DecodeScratch jpeg_scratch;
  for (const Factors& factors : kFactors)
    for (const int quality : {30, 90, 100})
      for (const int height : {1, 3, 17, 64, 75})
        for (const int width : {1, 2, 5, 33, 150}) {
          JpegSpec spec = spec_of(height, width, factors);
          spec.quality = quality;
          spec.progressive = random() % 3 == 0;
          if (random() % 4 == 0) spec.components = 1;
          if (random() % 6 == 0) {
            spec.components = 3;
            spec.stored_as_rgb = true;
          }
          check_jpeg(random, spec, jpeg_scratch);
        }
}

TEST(restore_section) {
  std::mt19937 random(4);
  const penstock::CoefficientImage image =
      random_coefficients(random, 9, 9, kFactors[0], Colour::ycbcr, 4);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{1000}}) {
    const std::vector<uint8_t> restore(size, 0xAB);
    std::vector<uint8_t> record;
    CHECK(encode_tiles(record, image, restore) == nullptr);
    TileImage tiles;
    CHECK(tiles.parse(record) == nullptr);
    CHECK(
        std::equal(restore.begin(), restore.end(), tiles.restore().begin(), tiles.restore().end()));
    CHECK(decode(record, {0, 0, 9, 9}, scratch) == decode(record_of(image), {0, 0, 9, 9}, scratch));
  }
}

/// The example of docs/format-tiles.md.
TEST(worked_example) {
  penstock::CoefficientImage image;
  image.height = 8;
  image.width = 16;
  image.components = 1;
  std::fill_n(image.component[0].quant, 64, uint16_t{16});
  allocate_blocks(image);
  int16_t* left = image.component[0].block(0, 0);
  left[0] = 10;
  left[1] = 3;
  left[8] = -1;
  left[2] = 130;
  image.component[0].block(0, 1)[0] = -2;

  std::vector<uint8_t> expected = {1, 0, 8, 4, 8, 0, 16,   0, 7,    0,    0, 0,
                                   0, 0, 0, 0, 1, 1, 0x11, 0, 0xFE, 0xFF, 4};
  expected.insert(expected.end(), 64, 16);
  for (const int byte : {7, 0, 0x40, 0x86, 0x0C, 0xC5, 0xD4, 0xBF, 0x20})
    expected.push_back(static_cast<uint8_t>(byte));
  expected.insert(expected.end(), 64, 0);
  CHECK(record_of(image) == expected);
}

}  // namespace
}  // namespace penstock::testing
