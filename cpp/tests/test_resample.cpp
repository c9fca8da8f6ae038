// Every variant writes what the scalar one writes, and not a byte beside it.
#include <algorithm>
#include <cstdio>

#include "base/cpu.h"
#include "guarded_output.h"
#include "kernels/resample.h"
#include "random_image.h"

namespace penstock {
namespace {

constexpr Filter kFilters[] = {Filter::nearest, Filter::lanczos, Filter::bilinear,
                               Filter::bicubic, Filter::box,     Filter::hamming};
constexpr Element kElements[] = {Element::uint8, Element::float16, Element::bfloat16,
                                 Element::float32};

FinalPass imagenet_pass() {
  const float mean[3] = {0.485f, 0.456f, 0.406f};
  const float std[3] = {0.229f, 0.224f, 0.225f};
  const FinalPass pass = make_final_pass(1.0f / 255, mean, std);
  CHECK(pass.computable);
  return pass;
}

// Small and large sides, one pixel among them, and some whose ratio is extreme.
int draw_side(Draw& draw) {
  switch (draw.between(0, 5)) {
    case 0:
      return draw.between(1, 4);
    case 1:
      return draw.between(400, 1500);
    default:
      return draw.between(5, 300);
  }
}

ResizeSpec draw_spec(Draw& draw) {
  ResizeSpec spec;
  spec.in_height = draw_side(draw);
  spec.in_width = draw_side(draw);
  spec.in_channels = draw.coin() ? 3 : 1;
  spec.out_height = draw.between(0, 9) == 0 ? spec.in_height : std::min(draw_side(draw), 400);
  spec.out_width = draw.between(0, 9) == 0 ? spec.in_width : std::min(draw_side(draw), 400);
  spec.window.top = draw.coin() ? 0 : draw.between(0, spec.out_height - 1);
  spec.window.left = draw.coin() ? 0 : draw.between(0, spec.out_width - 1);
  spec.window.height = draw.between(1, spec.out_height - spec.window.top);
  spec.window.width = draw.between(1, spec.out_width - spec.window.left);
  spec.filter = kFilters[draw.between(0, 5)];
  spec.vertical_first = draw.coin();
  spec.flip_horizontal = draw.coin();
  spec.flip_vertical = draw.coin();
  if (spec.filter == Filter::bilinear || spec.filter == Filter::bicubic)
    spec.weights = static_cast<Weights>(draw.between(0, 2));
  const bool is_of_opencv = spec.filter == Filter::nearest || spec.filter == Filter::bilinear ||
                            spec.filter == Filter::box;
  if (is_of_opencv && draw.between(0, 2) == 0) {
    spec.weights = Weights::opencv;
    spec.vertical_first = false;
  }
  return spec;
}

std::vector<uint8_t> run(ResampleScratch& scratch, const ResizeSpec& spec, const RandomImage& image,
                         GuardedOutput& target, unsigned seed) {
  Draw draw(seed);
  const Region needed = needed_input(spec);
  CHECK(needed.top >= 0 && needed.left >= 0 && needed.height > 0 && needed.width > 0);
  CHECK(needed.top + needed.height <= spec.in_height);
  CHECK(needed.left + needed.width <= spec.in_width);
  feed_in_bands(begin_resample(scratch, spec, target.output), image, needed, draw);
  return target.result();
}

TEST(variants_equal_scalar) {
  const FinalPass pass = imagenet_pass();
  ResampleScratch scratch;  // shared, so that what one image leaves behind meets the next
  for (unsigned seed = 0; seed < 600; ++seed) {
    Draw draw(seed);
    const ResizeSpec spec = draw_spec(draw);
    const RandomImage image(draw, spec.in_height, spec.in_width, spec.in_channels);
    const int channels = spec.in_channels == 1 && draw.coin() ? 1 : 3;
    const Layout layout = draw.coin() ? Layout::chw : Layout::hwc;
    const Element element = kElements[draw.between(0, 3)];
    const int row_gap = draw.coin() ? 0 : draw.between(1, 64);
    const bool past_cache = draw.coin();
    const auto result_of = [&](Isa isa) {
      force_isa(isa);
      GuardedOutput target(spec.window.height, spec.window.width, channels, layout, element, &pass,
                           row_gap, past_cache);
      return run(scratch, spec, image, target, seed);
    };
    const std::vector<uint8_t> expected = result_of(Isa::scalar);
    for (const Isa isa : supported_isas()) {
      if (result_of(isa) == expected) continue;
      std::fprintf(stderr, "seed %u, %s: %dx%d to %dx%d, filter %d\n", seed,
                   std::string(name_of(isa)).c_str(), spec.in_height, spec.in_width,
                   spec.out_height, spec.out_width, static_cast<int>(spec.filter));
      CHECK(!"the variant equals the scalar one");
    }
  }
}

std::vector<uint8_t> resize_plain(const ResizeSpec& spec, const RandomImage& image) {
  ResampleScratch scratch;
  GuardedOutput target(spec.window.height, spec.window.width, image.channels, Layout::chw,
                       Element::uint8, nullptr, 0, false);
  return run(scratch, spec, image, target, 1);
}

// A window is cut from, and a mirrored result is mirrored from, the whole result.
TEST(windows_and_mirrors_show_the_whole) {
  force_isa(Isa::scalar);
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const ResizeSpec spec = draw_spec(draw);
    const RandomImage image(draw, spec.in_height, spec.in_width, spec.in_channels);
    ResizeSpec whole = spec;
    whole.window = {0, 0, spec.out_height, spec.out_width};
    whole.flip_horizontal = whole.flip_vertical = false;
    const std::vector<uint8_t> part = resize_plain(spec, image);
    const std::vector<uint8_t> all = resize_plain(whole, image);
    const Region& w = spec.window;
    for (int c = 0; c < image.channels; ++c)
      for (int y = 0; y < w.height; ++y)
        for (int x = 0; x < w.width; ++x) {
          const int from_y = w.top + (spec.flip_vertical ? w.height - 1 - y : y);
          const int from_x = w.left + (spec.flip_horizontal ? w.width - 1 - x : x);
          CHECK(part[(static_cast<size_t>(c) * w.height + y) * w.width + x] ==
                all[(static_cast<size_t>(c) * spec.out_height + from_y) * spec.out_width + from_x]);
        }
  }
}

TEST(equal_sizes_are_a_copy) {
  Draw draw(7);
  const RandomImage image(draw, 37, 53, 3);
  for (const Filter filter : kFilters)
    for (const bool vertical_first : {false, true}) {
      const ResizeSpec spec{37, 53, 3, 37, 53, {0, 0, 37, 53}, filter, vertical_first};
      CHECK(resize_plain(spec, image) == image.samples);
    }
}

// The same sizes again, and then only the instruction set or the mirroring changed.
TEST(tables_are_not_used_for_another_resize) {
  Draw draw(5);
  const RandomImage image(draw, 90, 70, 3);
  const ResizeSpec straight{90, 70, 3, 33, 44, {0, 0, 33, 44}, Filter::bicubic};
  ResizeSpec mirrored = straight;
  mirrored.flip_horizontal = true;
  ResampleScratch scratch;
  for (const ResizeSpec& spec : {straight, straight, mirrored, straight})
    for (const Isa isa : {Isa::scalar, best_isa(), best_isa()}) {
      force_isa(isa);
      GuardedOutput target(33, 44, 3, Layout::chw, Element::uint8, nullptr, 0, false);
      CHECK(run(scratch, spec, image, target, 1) == resize_plain(spec, image));
    }
}

TEST(huge_sides_work_in_every_variant) {
  Draw draw(11);
  const RandomImage wide(draw, 2, 60000, 1);
  const RandomImage tall(draw, 60000, 2, 1);
  for (const Filter filter : kFilters) {
    const ResizeSpec narrow{2, 60000, 1, 2, 3, {0, 0, 2, 3}, filter};
    const ResizeSpec low{60000, 2, 1, 3, 2, {0, 0, 3, 2}, filter, true};
    const ResizeSpec up{2, 60000, 1, 5, 50000, {4, 49000, 1, 1000}, filter};
    for (const ResizeSpec& spec : {narrow, low, up}) {
      const RandomImage& image = spec.in_height == 2 ? wide : tall;
      force_isa(Isa::scalar);
      const std::vector<uint8_t> expected = resize_plain(spec, image);
      for (const Isa isa : supported_isas()) {
        force_isa(isa);
        CHECK(resize_plain(spec, image) == expected);
      }
    }
  }
}

}  // namespace
}  // namespace penstock
