"""Sizes that follow from an image's own, against plain Python, Pillow and timm."""

import math
from fractions import Fraction

import numpy as np
import PIL.Image
import pytest

from folders import make_image
from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.reference.pipeline import run_reference
from penstock.rng import Draws
from penstock.transforms.buckets import Buckets, TokenSizes, buckets_of_area
from penstock.transforms.moves import CropMove, ResizeMove, out_sizes

MIXED = ((64, 64), (128, 128), (48, 96), (96, 48), (32, 128), (40, 72))


def sizes_of(sides):
    return Sizes(*np.array(sides, dtype=np.int64).reshape(-1, 2).T)


def pairs(sizes):
    return list(zip(sizes.height.tolist(), sizes.width.tolist(), strict=True))


def random_sizes(count, seed=0, most=700):
    rng = np.random.default_rng(seed)
    return sizes_of(np.exp(rng.uniform(0, math.log(most), (count, 2))).astype(int) + 1)


def nearest_plainly(buckets, height, width):
    """The rule as it is documented, in exact fractions: squares of ratios are compared."""
    ratio = Fraction(width, height)

    def far(bucket):
        other = Fraction(bucket[1], bucket[0])
        return max(ratio / other, other / ratio)

    best = min(far(bucket) for bucket in buckets)
    near = [bucket for bucket in buckets if far(bucket) == best]
    tallest = min(Fraction(bucket[1], bucket[0]) for bucket in near)
    near = sorted(bucket for bucket in near if Fraction(bucket[1], bucket[0]) == tallest)
    fitting = [bucket for bucket in near if bucket[0] <= height and bucket[1] <= width]
    return fitting[-1] if fitting else near[0]


@pytest.mark.parametrize("buckets", [MIXED, buckets_of_area("test", 256 * 256, 32, 4).sizes])
def test_each_image_goes_to_the_nearest_ratio(buckets):
    sizes = random_sizes(1500)
    out = Buckets(tuple(buckets)).out_sizes(sizes)

    expected = [nearest_plainly(buckets, *pair) for pair in pairs(sizes)]
    assert pairs(out) == expected


def test_ties_are_settled_as_documented():
    between = Buckets(((40, 10), (10, 10)))  # ratios 1/4 and 1; an image of 1/2 is between
    twice = Buckets(((10, 10), (100, 100), (50, 50)))

    assert between.out_sizes(sizes_of([(20, 10)]))[0].height == 40, "the taller one"
    out = twice.out_sizes(sizes_of([(70, 70), (49, 200), (5, 5), (100, 100)]))
    assert out.height.tolist() == [50, 10, 10, 100]


def test_huge_images_are_compared_exactly_too():
    """Their products do not fit 64 bits."""
    sizes = sizes_of([(70_000, 70_001), (1, 16_000_000), (16_000_000, 1)])
    out = Buckets(MIXED[2:]).out_sizes(sizes)
    expected = [nearest_plainly(MIXED[2:], *pair) for pair in pairs(sizes)]

    assert pairs(out) == expected


def test_buckets_of_an_area():
    made = buckets_of_area("test", 1024 * 1024, 64, 4.0).sizes

    assert (1024, 1024) in made
    assert (512, 2048) in made
    assert (2048, 512) in made
    for height, width in made:
        assert height % 64 == width % 64 == 0
        assert max(height, width) <= 4 * min(height, width)
        assert height * width <= 1024 * 1024
        long, short = max(height, width), min(height, width)
        assert (long + 64) * short > 1024 * 1024, "the longest side that the area allows"
        assert (width, height) in made
    assert len(set(made)) == len(made)


def draws(count, seed=3):
    return Draws(seed, 0, np.arange(count), 0)


@pytest.mark.parametrize("crop", ["random", "center"])
def test_the_resize_covers_the_bucket_and_keeps_the_shape(crop):
    sizes = random_sizes(500, most=400)
    op = T.ResizeToBucket(MIXED, crop=crop)
    resize, cut = op.sample(draws(500), sizes)

    assert isinstance(resize, ResizeMove)
    assert isinstance(cut, CropMove)
    out, bucket = out_sizes((resize, cut), sizes), op.sizing.out_sizes(sizes)
    np.testing.assert_array_equal(out.height, bucket.height)
    np.testing.assert_array_equal(out.width, bucket.width)
    exact = (resize.height == bucket.height) | (resize.width == bucket.width)
    assert exact.all()
    assert (resize.height >= bucket.height).all()
    assert (resize.width >= bucket.width).all()
    scale = np.maximum(bucket.height / sizes.height, bucket.width / sizes.width)
    assert (abs(resize.height - sizes.height * scale) <= 0.5 + 1e-6).all()
    assert (abs(resize.width - sizes.width * scale) <= 0.5 + 1e-6).all()
    if crop == "center":
        assert (abs(cut.top * 2 - (resize.height - bucket.height)) <= 1).all()
        assert (abs(cut.left * 2 - (resize.width - bucket.width)) <= 1).all()


def test_random_crops_reach_both_ends():
    sizes = sizes_of([(100, 300)] * 400)
    resize, cut = T.ResizeToBucket([(64, 64)]).sample(draws(400), sizes)

    assert (resize.height[0], resize.width[0]) == (64, 192)
    assert (cut.left.min(), cut.left.max()) == (0, 128)
    assert not cut.top.any()


@pytest.mark.parametrize("patch", [16, 14, (16, 8)])
@pytest.mark.parametrize("tokens", [1, 49, 256, 1024])
@pytest.mark.parametrize("most_factor", [None, 1.0])
def test_token_sizes_are_those_of_timm(patch, tokens, most_factor):
    transforms = pytest.importorskip("timm.data.naflex_transforms")
    sizes = random_sizes(150, seed=tokens, most=4000)
    patch_px = patch if isinstance(patch, tuple) else (patch, patch)
    out = TokenSizes(patch_px, tokens, most_factor).out_sizes(sizes)

    for row in range(len(sizes)):
        size = (int(sizes.height[row]), int(sizes.width[row]))
        _, expected = transforms.get_image_size_for_seq(size, patch, tokens, max_ratio=most_factor)
        assert (out.height[row], out.width[row]) == expected
        assert expected[0] * expected[1] <= tokens * patch_px[0] * patch_px[1]


def test_tokens_resize_the_pixels_as_timm_does():
    transforms = pytest.importorskip("timm.data.naflex_transforms")
    image = make_image(np.random.default_rng(0), 93, 140)
    theirs = np.asarray(transforms.ResizeToSequence(16, 49)(image))
    ours = run_reference(as_written(T.ResizeToTokens(16, 49)), image, seed=0, epoch=0, sample=0)

    np.testing.assert_array_equal(ours.transpose(1, 2, 0), theirs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.ResizeToBucket([]), "at least one"),
        (lambda: T.ResizeToBucket(64), "list of \\(height, width\\)"),
        (lambda: T.ResizeToBucket([64, 64]), "a bucket is \\(height, width\\), got 64"),
        (lambda: T.ResizeToBucket([(64, 0)]), "the width of a bucket must be an integer"),
        (lambda: T.ResizeToBucket([(64, 70_000)]), "between 1 and 65535"),
        (lambda: T.ResizeToBucket([(8, 8), (8, 8)]), "there twice"),
        (lambda: T.ResizeToBucket([(8, 8)], crop="middle"), "crop must be"),
        (lambda: T.ResizeToTokens(0), "patch_size must be"),
        (lambda: T.ResizeToTokens((16, 16, 3)), "patch_size must be"),
        (lambda: T.ResizeToTokens(16, 0), "most_tokens must be"),
        (lambda: T.ResizeToTokens(16, most_factor=0), "most_factor must be"),
        (lambda: buckets_of_area("x", 100, 64, 4), "Raise area_px"),
        (lambda: buckets_of_area("x", 100, 1, 0.5), "most_ratio must be"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(TransformError, match=message):
        make()


def test_an_image_that_no_bucket_covers_sensibly_is_refused():
    with pytest.raises(TransformError, match="would become 1024x1024000"):
        T.ResizeToBucket([(1024, 1024)]).sample(draws(1), sizes_of([(2, 2000)]))


def test_they_print_as_they_are_written():
    op = T.ResizeToBucket([(8, 16)], crop="center")

    assert repr(op) == "ResizeToBucket(buckets=[(8, 16)], crop='center')"
    assert repr(T.ResizeToTokens(16, 256)) == "ResizeToTokens(patch_size=16, most_tokens=256)"


def test_pixels_are_those_of_pillow():
    image = make_image(np.random.default_rng(1), 50, 120)
    plan = as_written(T.ResizeToBucket([(32, 48), (48, 32)], crop="center"))
    ours = run_reference(plan, image, seed=0, epoch=0, sample=0)
    # 120/50 = 2.4 and 48/32 = 1.5: the height decides, and 32 * 2.4 = 76.8.
    expected = image.resize((77, 32), PIL.Image.Resampling.BILINEAR).crop((14, 0, 62, 32))

    np.testing.assert_array_equal(ours.transpose(1, 2, 0), np.asarray(expected))
