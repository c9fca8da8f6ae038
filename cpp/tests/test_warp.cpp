// Warps with hostile numbers and odd sizes: every variant gives the oracle's pixels and touches
// nothing else.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/cpu.h"
#include "check.h"
#include "kernels/warp/elastic.h"
#include "kernels/warp/warp.h"
#include "kernels/warp/warp_scalar.h"
#include "random_image.h"

namespace penstock {
namespace {

constexpr Filter kFilters[] = {Filter::nearest, Filter::bilinear, Filter::bicubic};

/// Mostly ordinary numbers; now and then one that no pixel and no integer can be.
double any_number(Draw& draw, double ordinary) {
  constexpr double kHostile[] = {0.0,
                                 -0.0,
                                 std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::denorm_min(),
                                 -1e300,
                                 2147483648.0,
                                 -2147483649.0,
                                 32768.0,
                                 65536.0,
                                 1e5,
                                 1e-5};
  constexpr int kCount = sizeof(kHostile) / sizeof(kHostile[0]);
  if (draw.between(0, 9) == 0) return kHostile[draw.between(0, kCount - 1)];
  return ordinary * draw.between(-1000, 1000) / 1000;
}

Region part_of(Draw& draw, int height, int width) {
  const int top = draw.between(0, height - 1), left = draw.between(0, width - 1);
  return {top, left, draw.between(1, height - top), draw.between(1, width - left)};
}

/// A part of an image in memory of its own, so that a sanitizer sees a step beyond it.
SlackImage cut(const PlanarTarget& image, const Region& region) {
  SlackImage part(region.height, region.width, image.channels);
  for (int c = 0; c < image.channels; ++c)
    for (int y = 0; y < region.height; ++y)
      std::memcpy(part.image.row(c, y), image.row(c, region.top + y) + region.left,
                  static_cast<size_t>(region.width));
  return part;
}

/// A part of a warp, made of the part of the source that it needs, is that part of the whole.
template <size_t kNumbers, class Warp>
void check_window(const Region& window, const PlanarTarget& expected, const PlanarTarget& in,
                  const double (&matrix)[kNumbers], Warp warp) {
  const Region source = warp_source(matrix, window, in.height, in.width);
  const SlackImage there = cut(in, source);
  const WarpFrame frame{window.top, window.left, expected.height, expected.width,
                        source.top, source.left, in.height,       in.width};
  const SlackImage part = cut(expected, window);
  in_every_variant([&] {
    const SlackImage out(window.height, window.width, expected.channels);
    warp(out.image, there.image.view(), frame, matrix);
    CHECK(out.samples() == part.samples());
  });
}

/// The image with other pixels outside an outline.
SlackImage spoilt_outside(const SlackImage& in, const Outline& outline) {
  const SlackImage spoilt(in);
  for (int y = 0; y < in.image.height; ++y) {
    const auto [begin, end] = outline.needed(y, y + 1, 0, in.image.width);
    for (int c = 0; c < in.image.channels; ++c)
      for (int x = 0; x < in.image.width; ++x)
        if (x < begin || x >= end) spoilt.image.row(c, y)[x] ^= 0xff;
  }
  return spoilt;
}

/// A window of a warp looks at nothing outside its outline.
template <size_t kNumbers, class Warp>
void check_outline(const Region& window, const PlanarTarget& expected, const SlackImage& in,
                   const double (&matrix)[kNumbers], Warp warp) {
  const int height = in.image.height, width = in.image.width;
  const SlackImage spoilt = spoilt_outside(in, warp_outline(matrix, window, height, width));
  const WarpFrame frame{window.top, window.left, expected.height, expected.width,
                        0,          0,           height,          width};
  const SlackImage part = cut(expected, window);
  in_every_variant([&] {
    const SlackImage out(window.height, window.width, expected.channels);
    warp(out.image, spoilt.image.view(), frame, matrix);
    CHECK(out.samples() == part.samples());
  });
}

TEST(outlines_leave_out_what_lies_beside_a_slanted_window) {
  const double turned[6] = {0.6, -0.8, 50, 0.8, 0.6, 10};
  const Outline outline = warp_outline(turned, {0, 0, 40, 40}, 200, 200);
  CHECK(!outline.is_all);
  int pixels = 0;
  for (int y = 0; y < 200; ++y) {
    const auto [begin, end] = outline.needed(y, y + 1, 0, 200);
    CHECK(begin >= 0 && begin <= end && end <= 200);
    pixels += end - begin;
  }
  CHECK(pixels >= 40 * 40 && pixels < 2 * 40 * 40);
  const double unknown[6] = {std::numeric_limits<double>::quiet_NaN(), 0, 0, 0, 1, 0};
  CHECK(warp_outline(unknown, {0, 0, 4, 4}, 9, 9).is_all);
}

TEST(every_variant_agrees_on_any_numbers) {
  WarpScratch scratch;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Draw draw(seed);
    const int channels = draw.coin() ? 3 : 1;
    const SlackImage in(RandomImage(draw, draw.between(1, 40), draw.between(1, 70), channels));
    const int out_height = draw.between(1, 20);
    const int out_width = draw.between(0, 20) == 0 ? draw.between(250, 530) : draw.between(1, 70);
    const uint8_t level = static_cast<uint8_t>(draw.between(0, 255));
    const uint8_t fill[3] = {level, level, level};
    const Filter filter = kFilters[draw.between(0, 2)];
    double affine[6], perspective[8];
    for (int i = 0; i < 6; ++i) affine[i] = any_number(draw, i % 3 == 2 ? 40 : 2);
    if (draw.between(0, 3) == 0) affine[1] = affine[3] = 0;
    if (draw.between(0, 3) == 0) affine[0] = 1;
    if (draw.between(0, 3) == 0) affine[3] = 0;
    for (int i = 0; i < 8; ++i) perspective[i] = i < 6 ? affine[i] : any_number(draw, 0.1);

    const SlackImage expected_affine(out_height, out_width, channels);
    const SlackImage expected_perspective(out_height, out_width, channels);
    const WarpFrame whole = whole_frame(expected_affine.image, in.image.view());
    warp_affine_scalar(expected_affine.image, in.image.view(), whole, affine, filter, fill);
    warp_perspective_scalar(expected_perspective.image, in.image.view(), whole, perspective, filter,
                            fill);
    in_every_variant([&] {
      const SlackImage out(out_height, out_width, channels);
      warp_affine(out.image, in.image.view(), whole, affine, filter, fill, scratch);
      CHECK(out.samples() == expected_affine.samples());
      warp_perspective(out.image, in.image.view(), whole, perspective, filter, fill, scratch);
      CHECK(out.samples() == expected_perspective.samples());
    });

    const Region window = part_of(draw, out_height, out_width);
    check_window(window, expected_affine.image, in.image, affine,
                 [&](auto&&... arguments) { warp_affine(arguments..., filter, fill, scratch); });
    check_window(
        window, expected_perspective.image, in.image, perspective,
        [&](auto&&... arguments) { warp_perspective(arguments..., filter, fill, scratch); });
    check_outline(window, expected_affine.image, in, affine,
                  [&](auto&&... arguments) { warp_affine(arguments..., filter, fill, scratch); });
    check_outline(window, expected_perspective.image, in, perspective, [&](auto&&... arguments) {
      warp_perspective(arguments..., filter, fill, scratch);
    });
  }
}

int largest_difference(const SlackImage& a, const SlackImage& b) {
  int most = 0;
  for (int c = 0; c < a.image.channels; ++c)
    for (int y = 0; y < a.image.height; ++y)
      for (int x = 0; x < a.image.width; ++x)
        most = std::max(most, std::abs(a.image.row(c, y)[x] - b.image.row(c, y)[x]));
  return most;
}

TEST(rounded_warps_agree_in_every_variant_and_are_two_levels_off_at_most) {
  WarpScratch scratch;
  bool any_off = false;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Draw draw(seed);
    const int channels = draw.coin() ? 3 : 1;
    const SlackImage in(RandomImage(draw, draw.between(1, 60), draw.between(1, 700), channels));
    const int height = draw.between(1, 20);
    const int width = draw.coin() ? draw.between(200, 530) : draw.between(1, 70);
    const uint8_t fill[3] = {7, 7, 7};
    double matrix[6];
    for (int i = 0; i < 6; ++i) matrix[i] = any_number(draw, i % 3 == 2 ? 40 : i == 0 ? 1.3 : 0.1);
    const SlackImage exact(height, width, channels), rounded(height, width, channels);
    const WarpFrame whole = whole_frame(exact.image, in.image.view());
    warp_affine_scalar(exact.image, in.image.view(), whole, matrix, Filter::bilinear, fill);
    warp_affine_rounded_scalar(rounded.image, in.image.view(), whole, matrix, fill);
    const int off = largest_difference(exact, rounded);
    CHECK(off <= 2);
    any_off |= off > 0;

    const Region window = part_of(draw, height, width);
    const Region source = warp_source(matrix, window, in.image.height, in.image.width);
    const SlackImage there = cut(in.image, source);
    const SlackImage spoilt =
        spoilt_outside(in, warp_outline(matrix, window, in.image.height, in.image.width));
    WarpFrame frame{window.top, window.left, height,          width,
                    source.top, source.left, in.image.height, in.image.width};
    const SlackImage part(window.height, window.width, channels);
    warp_affine_rounded_scalar(part.image, there.image.view(), frame, matrix, fill);
    in_every_variant([&] {
      for (const Filter filter : kFilters) {
        const SlackImage out(height, width, channels), other(height, width, channels);
        warp_affine_rounded(out.image, in.image.view(), whole, matrix, filter, fill, scratch);
        warp_affine(other.image, in.image.view(), whole, matrix, filter, fill, scratch);
        const bool is_bilinear = filter == Filter::bilinear;
        CHECK(out.samples() == (is_bilinear ? rounded : other).samples());
      }
      const SlackImage out(window.height, window.width, channels);
      warp_affine_rounded(out.image, there.image.view(), frame, matrix, Filter::bilinear, fill,
                          scratch);
      CHECK(out.samples() == part.samples());
      WarpFrame of_all = frame;
      of_all.in_top = of_all.in_left = 0;
      warp_affine_rounded(out.image, spoilt.image.view(), of_all, matrix, Filter::bilinear, fill,
                          scratch);
      CHECK(out.samples() == part.samples());
    });
  }
  CHECK(any_off);
}

/// One window of an affine warp without a filter, where Pillow adds up rounded steps.
void check_nearest_window(const SlackImage& in, int out_width, const double (&matrix)[6],
                          const Region& window) {
  const uint8_t fill[3] = {7, 7, 7};
  WarpScratch scratch;
  const SlackImage expected(window.top + window.height, out_width, in.image.channels);
  const WarpFrame whole = whole_frame(expected.image, in.image.view());
  warp_affine_scalar(expected.image, in.image.view(), whole, matrix, Filter::nearest, fill);
  check_window(window, expected.image, in.image, matrix, [&](auto&&... arguments) {
    warp_affine(arguments..., Filter::nearest, fill, scratch);
  });
}

TEST(windows_hold_what_rounding_brings_in) {
  Draw draw(3);
  const SlackImage in(RandomImage(draw, 9, 900, 1));
  // Numbers that cancel: what remains is rounded far more coarsely than to pixels.
  for (int i = 0; i < 300; ++i) {
    const int column = draw.between(0, 60), row = draw.between(0, 6);
    const double large = std::ldexp(draw.between(1, 1000), draw.between(0, 60));
    const double beside = draw.coin() ? 0 : large / 3;
    const double matrix[6] = {
        large, beside, draw.between(0, 900) - large * (column + 0.5) - beside * (row + 0.5),
        0,     1,      0};
    check_nearest_window(in, 70, matrix, {row, column, 1, 1});
  }
  // 16 bits of a step, times the columns of a very wide result.
  const double slow[6] = {0.001004, 0.01, 0, 0, 1, 0};
  check_nearest_window(in, 700000, slow, {0, 699000, 1, 1000});
  // Places that come around to the far end of a wide image.
  const SlackImage wide(RandomImage(draw, 1, 40000, 1));
  const double around[6] = {-0.1, 0.01, -22767.9, 0, 1, 0};
  check_nearest_window(wide, 100000, around, {0, 99000, 1, 1000});
}

/// Small turns and the like, with pixels from outside on every side, and colour around gray.
TEST(flat_warps_agree) {
  WarpScratch scratch;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Draw draw(seed);
    const int channels = draw.coin() ? 3 : 1;
    const SlackImage in(RandomImage(draw, draw.between(1, 300), draw.between(1, 300), channels));
    const int height = draw.between(1, 30), width = draw.between(1, 300);
    const int out_channels = draw.coin() ? 3 : channels;
    const uint8_t fill[3] = {7, static_cast<uint8_t>(out_channels == 3 ? 99 : 7), 7};
    const auto share = [&draw](double most) { return most * draw.between(-1000, 1000) / 1000; };
    const double matrix[6] = {draw.between(0, 3) == 0 ? 1 : std::fabs(share(1.1)),
                              share(1.1),
                              share(400),
                              share(0.3),
                              draw.between(0, 3) == 0 ? 1 : share(1.1),
                              share(400)};
    const SlackImage expected(height, width, out_channels);
    const WarpFrame whole = whole_frame(expected.image, in.image.view());
    warp_affine_scalar(expected.image, in.image.view(), whole, matrix, Filter::nearest, fill);
    in_every_variant([&] {
      const SlackImage out(height, width, out_channels);
      warp_affine(out.image, in.image.view(), whole, matrix, Filter::nearest, fill, scratch);
      CHECK(out.samples() == expected.samples());
    });
  }
}

/// Turns by any angle and mirrorings, with shears of both directions, enlarged or made smaller.
TEST(turned_and_sheared_images_agree) {
  WarpScratch scratch;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Draw draw(seed);
    const int channels = draw.coin() ? 3 : 1;
    const SlackImage in(RandomImage(draw, draw.between(1, 120), draw.between(1, 120), channels));
    const int height = draw.between(1, 90), width = draw.between(1, 120);
    const uint8_t fill[3] = {7, 99, 200};
    const double angle = draw.between(0, 628) / 100.0, scale = draw.between(30, 160) / 100.0;
    const double shear = draw.coin() ? 0 : draw.between(-300, 300) / 1000.0;
    const double mirror = draw.coin() ? 1 : -1;
    const double across = scale * std::cos(angle) * mirror, down = scale * std::sin(angle);
    const double matrix[6] = {across,
                              -down + shear * across,
                              in.image.width / 2.0 - across * width / 2 + draw.between(-30, 60),
                              down * mirror,
                              scale * std::cos(angle) + shear * down,
                              draw.between(-60, 90) + 0.25};
    const SlackImage expected(height, width, 3);
    const WarpFrame whole = whole_frame(expected.image, in.image.view());
    warp_affine_scalar(expected.image, in.image.view(), whole, matrix, Filter::nearest, fill);
    in_every_variant([&] {
      const SlackImage out(height, width, 3);
      warp_affine(out.image, in.image.view(), whole, matrix, Filter::nearest, fill, scratch);
      CHECK(out.samples() == expected.samples());
    });
  }
}

/// Large enough to be rendered in bands.
TEST(steep_warps_of_large_images_agree) {
  WarpScratch scratch;
  Draw draw(4);
  const SlackImage in(RandomImage(draw, 2100, 2200, 1));
  const uint8_t fill[3] = {9, 9, 9};
  const double turned[6] = {0.77, -0.64, 300.3, 0.64, 0.77, -20.7};
  const double leaning[8] = {0.77, -0.64, 300.3, 0.64, 0.77, -20.7, 1e-4, 2e-4};
  for (const Filter filter : kFilters) {
    const SlackImage affine(301, 613, 1), perspective(301, 613, 1);
    const WarpFrame whole = whole_frame(affine.image, in.image.view());
    warp_affine_scalar(affine.image, in.image.view(), whole, turned, filter, fill);
    warp_perspective_scalar(perspective.image, in.image.view(), whole, leaning, filter, fill);
    in_every_variant([&] {
      const SlackImage out(301, 613, 1);
      warp_affine(out.image, in.image.view(), whole, turned, filter, fill, scratch);
      CHECK(out.samples() == affine.samples());
      warp_perspective(out.image, in.image.view(), whole, leaning, filter, fill, scratch);
      CHECK(out.samples() == perspective.samples());
    });
  }
}

TEST(gray_takes_the_colour_of_the_fill) {
  Draw draw(1);
  const SlackImage gray(RandomImage(draw, 6, 7, 1));
  const uint8_t fill[3] = {1, 2, 3};
  const double moved[6] = {1, 0, -3, 0, 1, 0};
  const double turned[6] = {0, 1, 0, 1, 0, -3};
  WarpScratch scratch;
  for (const Filter filter : kFilters)
    in_every_variant([&] {
      const SlackImage out(7, 7, 3);
      const WarpFrame frame = whole_frame(out.image, gray.image.view());
      warp_affine(out.image, gray.image.view(), frame, moved, filter, fill, scratch);
      for (int c = 0; c < 3; ++c) {
        CHECK(out.image.row(c, 5)[2] == fill[c]);
        CHECK(out.image.row(c, 5)[3] == gray.image.view().row(0, 5)[0]);
      }
      warp_affine(out.image, gray.image.view(), frame, turned, filter, fill, scratch);
      for (int c = 0; c < 3; ++c) {
        CHECK(out.image.row(c, 1)[2] == fill[c]);
        CHECK(out.image.row(c, 1)[4] == gray.image.view().row(0, 1)[1]);
      }
    });
}

TEST(every_variant_agrees_on_any_displacement) {
  WarpScratch scratch;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const int height = draw.between(1, 12), width = draw.between(1, 40);
    const int channels = draw.coin() ? 3 : 1;
    const SlackImage in(RandomImage(draw, height, width, channels));
    const size_t pixels = static_cast<size_t>(height) * width;
    std::vector<float> dx(pixels), dy(pixels);
    for (float& shift : dx) shift = static_cast<float>(any_number(draw, 20));
    for (float& shift : dy) shift = static_cast<float>(any_number(draw, 20));
    const uint8_t fill[3] = {9, 9, 9};
    const Filter filter = kFilters[draw.between(0, 2)];
    const SlackImage wanted(height, width, channels);
    warp_displaced_scalar(wanted.image, in.image.view(), dx.data(), dy.data(), filter, fill);
    in_every_variant([&] {
      const SlackImage out(height, width, channels);
      warp_displaced(out.image, in.image.view(), dx.data(), dy.data(), filter, fill, scratch);
      CHECK(out.samples() == wanted.samples());
    });
  }
}

TEST(without_alpha_nothing_moves) {
  Draw draw(2);
  const SlackImage in(RandomImage(draw, 9, 11, 3));
  const SlackImage out(9, 11, 3);
  std::vector<float> dx(99), dy(99);
  Buffer scratch;
  WarpScratch warp_scratch;
  elastic_field(dx.data(), dy.data(), 9, 11, {0, 0, 5, 0}, {1, 2}, scratch);
  const uint8_t fill[3] = {0, 0, 0};
  for (const Filter filter : kFilters) {
    warp_displaced(out.image, in.image.view(), dx.data(), dy.data(), filter, fill, warp_scratch);
    CHECK(out.samples() == in.samples());
  }
}

}  // namespace
}  // namespace penstock
