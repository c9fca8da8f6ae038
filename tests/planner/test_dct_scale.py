"""Which scale a sample is decoded at."""

import numpy as np
import pytest

from penstock._core import PadMode, StepColumn
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.planner.rules.smaller_first import reduce_in_decoder
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove

BILINEAR, BICUBIC, LANCZOS, HAMMING, NEAREST, BOX = 2, 3, 1, 5, 0, 4


def column(*values):
    return np.array(values, dtype=np.int64)


def scales_of(*moves, size=(1000, 2000)):
    """The scale of every step of one image."""
    height, width = size
    sizes = Sizes(column(height), column(width))
    steps = lower(reduce_in_decoder(moves, sizes) or moves, sizes)
    return steps.table[0, :, StepColumn.DCT_SCALE].tolist()


def resize(height, width, filter=BILINEAR):
    return ResizeMove(column(height), column(width), filter)


@pytest.mark.parametrize(
    ("side", "scale"), [(251, 1), (250, 2), (126, 2), (125, 4), (63, 4), (62, 8), (1, 8)]
)
def test_the_resize_keeps_at_least_half_of_the_reduction(side, scale):
    assert scales_of(resize(side, side), size=(1000, 1000)) == [scale]


def test_the_less_reduced_side_decides():
    assert scales_of(resize(251, 10)) == [1]
    assert scales_of(resize(10, 400)) == [2]


def test_the_crop_counts_not_the_image():
    crop = CropMove(column(3), column(5), column(300), column(301))
    assert scales_of(crop, resize(75, 75)) == [2]
    assert scales_of(crop, resize(76, 76)) == [1]


@pytest.mark.parametrize("filter", [BILINEAR, BICUBIC, LANCZOS, HAMMING])
def test_smooth_filters(filter):
    assert scales_of(resize(100, 100, filter)) == [4]


@pytest.mark.parametrize("filter", [NEAREST, BOX])
def test_filters_that_would_show_it(filter):
    assert scales_of(resize(100, 100, filter)) == [1]


def test_no_resize_no_padding_no_later_step():
    pad = PadMove(*([column(1)] * 4), PadMode.EDGE, (0, 0, 0))
    assert scales_of() == [1]
    assert scales_of(pad, resize(100, 100)) == [1]
    assert scales_of(resize(900, 900), resize(100, 100)) == [1, 1]
    flip = FlipMove(np.array([True]), np.array([False]))
    assert scales_of(flip, resize(100, 100)) == [1, 1]


def test_an_empty_batch_is_no_trouble():
    nothing = Sizes(np.empty(0, np.int64), np.empty(0, np.int64))
    resize = ResizeMove(nothing.height, nothing.width, BILINEAR)
    assert reduce_in_decoder((resize,), nothing) is None
