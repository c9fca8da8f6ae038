// Copying, feeding, splitting and padding, in every variant.
#include <algorithm>
#include <memory>

#include "base/cpu.h"
#include "guarded_output.h"
#include "kernels/copy_rows.h"
#include "kernels/final_pass/whole_lines.h"
#include "kernels/pad.h"
#include "random_image.h"

namespace penstock {
namespace {

TEST(copy_mirrors_and_normalises) {
  const float mean[3] = {0.5f, 0.25f, 0.125f};
  const float std[3] = {0.3f, 0.7f, 0.9f};
  const FinalPass pass = make_final_pass(1, mean, std, 255);
  CopyScratch scratch;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 40), width = draw.between(1, 200);
    const int channels = draw.coin() ? 3 : 1;
    const bool across = draw.coin(), down = draw.coin();
    const RandomImage image(draw, height, width, channels);
    in_every_variant([&] {
      GuardedOutput target(height, width, 3, Layout::hwc, Element::float32, &pass, 12, false);
      feed_in_bands(begin_copy(scratch, channels, across, down, target.output), image,
                    {0, 0, height, width}, draw);
      const std::vector<uint8_t> rows = target.result();
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < 3; ++c) {
            const uint8_t level = image.at(channels == 1 ? 0 : c, down ? height - 1 - y : y,
                                           across ? width - 1 - x : x);
            const size_t element = (static_cast<size_t>(y) * width + x) * 3 + c;
            CHECK(std::memcmp(&rows[element * 4], &pass.float32[c][level], 4) == 0);
          }
    });
  }
}

// Also rows of bytes of which only several together fill cache lines, in any order.
TEST(past_the_cache_goes_the_same) {
  const float mean[3] = {0.5f, 0.25f, 0.125f};
  const float std[3] = {0.3f, 0.7f, 0.9f};
  const FinalPass pass = make_final_pass(1, mean, std, 255);
  CopyScratch scratch;
  int kept = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 40);
    const int width = draw.coin() ? 8 * draw.between(1, 40) : draw.between(1, 200);
    const int channels = draw.coin() ? 3 : 1;
    const bool across = draw.coin(), down = draw.coin();
    const Layout layout = draw.coin() ? Layout::chw : Layout::hwc;
    const Element element = draw.coin() ? Element::uint8 : Element::float16;
    const int row_gap = draw.between(0, 9) == 0 ? 4 : 0;
    const RandomImage image(draw, height, width, channels);
    in_every_variant([&] {
      std::vector<uint8_t> results[2];
      for (const bool past_cache : {false, true}) {
        GuardedOutput target(height, width, 3, layout, element, &pass, row_gap, past_cache);
        kept += WholeLines::rows_of(target.output) > 1;
        feed_in_bands(begin_copy(scratch, channels, across, down, target.output), image,
                      {0, 0, height, width}, draw);
        results[past_cache] = target.result();
      }
      CHECK(results[0] == results[1]);
    });
  }
  CHECK(kept > 50);
}

Region draw_region(Draw& draw, int height, int width) {
  Region region{draw.between(0, height - 1), draw.between(0, width - 1), 0, 0};
  region.height = draw.between(1, height - region.top);
  region.width = draw.between(1, width - region.left);
  return region;
}

void check_planes(const std::vector<uint8_t>& planes, const RandomImage& image, int channels,
                  const Region& region) {
  size_t i = 0;
  for (int c = 0; c < channels; ++c)
    for (int y = 0; y < region.height; ++y)
      for (int x = 0; x < region.width; ++x, ++i)
        CHECK(planes[i] == image.at(c, region.top + y, region.left + x));
}

// The source array ends with its last pixel: nothing may be read behind it.
TEST(interleaved_pixels_arrive_as_planes) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 30), width = draw.between(1, 150);
    const int pixel_bytes = draw.coin() ? 4 : 3;
    const RandomImage image(draw, height, width, 3);
    const auto rgb = std::make_unique<uint8_t[]>(static_cast<size_t>(height) * width * pixel_bytes);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c)
          rgb[(static_cast<size_t>(y) * width + x) * pixel_bytes + c] = image.at(c, y, x);
    const Region region = draw_region(draw, height, width);
    in_every_variant([&] {
      CopyScratch scratch;
      Buffer rows;
      GuardedOutput target(region.height, region.width, 3, Layout::chw, Element::uint8, nullptr, 3,
                           false);
      feed_interleaved(begin_copy(scratch, 3, false, false, target.output), rgb.get(),
                       ptrdiff_t{pixel_bytes} * width, region, rows, pixel_bytes);
      check_planes(target.result(), image, 3, region);
    });
  }
}

// The same for planes: their array ends with the last pixel of the last one.
TEST(foreign_planes_arrive_whole) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 30), width = draw.between(1, 150);
    const int channels = draw.coin() ? 3 : 1;
    const RandomImage image(draw, height, width, channels);
    const size_t plane = static_cast<size_t>(height) * width;
    const auto own = std::make_unique<uint8_t[]>(plane * channels);
    PlanarView view{{}, width, height, width, channels};
    for (int c = 0; c < channels; ++c) {
      view.plane[c] = own.get() + c * plane;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          own[c * plane + static_cast<size_t>(y) * width + x] = image.at(c, y, x);
    }
    const Region region = draw_region(draw, height, width);
    in_every_variant([&] {
      CopyScratch scratch;
      Buffer rows;
      GuardedOutput target(region.height, region.width, channels, Layout::chw, Element::uint8,
                           nullptr, 3, false);
      feed_foreign_planes(begin_copy(scratch, channels, false, false, target.output), view, region,
                          rows);
      check_planes(target.result(), image, channels, region);
    });
  }
}

// Pixels of four bytes are written to the last one, and not beyond.
TEST(planes_become_pixels_of_four_bytes) {
  CopyScratch scratch;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 20), width = draw.between(1, 200);
    const int channels = draw.coin() ? 3 : 1;
    const bool across = draw.coin(), down = draw.coin();
    const RandomImage image(draw, height, width, channels);
    in_every_variant([&] {
      GuardedOutput target(height, width, 3, Layout::rgbx, Element::uint8, nullptr,
                           draw.between(0, 9), false);
      feed_in_bands(begin_copy(scratch, channels, across, down, target.output), image,
                    {0, 0, height, width}, draw);
      const std::vector<uint8_t> rows = target.result();
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const uint8_t* pixel = &rows[(static_cast<size_t>(y) * width + x) * 4];
          for (int c = 0; c < 3; ++c)
            CHECK(pixel[c] == image.at(channels == 1 ? 0 : c, down ? height - 1 - y : y,
                                       across ? width - 1 - x : x));
          CHECK(pixel[3] == 255);
        }
    });
  }
}

// A window of the padded image is cut from the whole padded image, which repeats the source.
TEST(pad_windows_show_the_whole) {
  Draw draw(3);
  for (const PadMode mode :
       {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::symmetric}) {
    const RandomImage image(draw, 4, 5, 3);
    const PlanarView source{
        {&image.samples[0], &image.samples[20], &image.samples[40]}, 5, 4, 5, 3};
    const PadSpec spec{13, 9, 2, 17, mode, {1, 2, 3}};
    std::vector<uint8_t> whole(3 * 30 * 20);
    const PlanarTarget all{{&whole[0], &whole[600], &whole[1200]}, 20, 30, 20, 3};
    pad(all, source, spec, {0, 0, 30, 20});
    for (int c = 0; c < 3; ++c) {
      CHECK(std::equal(source.row(c, 3), source.row(c, 3) + 5, all.row(c, 9 + 3) + 13));
      if (mode == PadMode::constant) CHECK(all.row(c, 0)[0] == spec.fill[c]);
    }
    const Region window{7, 11, 9, 6};
    std::vector<uint8_t> part(3 * 9 * 6);
    const PlanarTarget cut{{&part[0], &part[54], &part[108]}, 6, 9, 6, 3};
    pad(cut, source, spec, window);
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < window.height; ++y)
        CHECK(std::equal(cut.row(c, y), cut.row(c, y) + window.width,
                         all.row(c, window.top + y) + window.left));
  }
}

// A border that rows get on their way is the one that `pad` puts around a whole image.
TEST(rows_get_their_border_on_the_way) {
  CopyScratch scratch;
  BorderSink border;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 40), width = draw.between(1, 90);
    const int channels = draw.coin() ? 3 : 1, shown = channels == 3 || draw.coin() ? 3 : 1;
    const RandomImage image(draw, height, width, channels);
    PadSpec spec{draw.between(0, 12), draw.between(0, 12), draw.between(0, 12),
                 draw.between(0, 12)};
    for (uint8_t& level : spec.fill) level = static_cast<uint8_t>(draw.between(0, 255));
    const Bordered bordered{height + spec.top + spec.bottom,
                            width + spec.left + spec.right,
                            shown,
                            {spec.top, spec.left, height, width}};
    const SlackImage source(image);
    SlackImage expected(bordered.height, bordered.width, shown);
    pad(expected.image, source.image.view(), spec, {0, 0, bordered.height, bordered.width});
    in_every_variant([&] {
      GuardedOutput target(bordered.height, bordered.width, shown, Layout::chw, Element::uint8,
                           nullptr, 0, false);
      RowSink& copy = begin_copy(scratch, shown, false, false, target.output);
      feed_in_bands(border.begin(copy, bordered, spec.fill), image, {0, 0, height, width}, draw);
      CHECK(target.result() == expected.samples());
    });
  }
}

}  // namespace
}  // namespace penstock
