"""Which views of a sample share what is decoded of it."""

from __future__ import annotations

import numpy as np

from penstock._core import ALONE, StepColumn
from penstock.geometry import Ints, Sizes
from penstock.planner.lower import Steps, lower
from penstock.planner.views import ViewSteps, share
from penstock.transforms.moves import CropMove, ResizeMove

SIZES = Sizes(np.array([1000, 1000]), np.array([1000, 1000]))
NO, YES = np.array([False, False]), np.array([True, True])


def crop(top: int, left: int, side: int, scales: Ints | None = None) -> Steps:
    """A square of both images, resized to 10x10."""
    each = [np.full(2, number) for number in (top, left, side, side)]
    ten = np.full(2, 10)
    return lower([CropMove(*each), ResizeMove(ten, ten, 2, scales)], SIZES)


def groups(*views: Steps, is_jpeg: np.ndarray = NO) -> list[int]:
    shared = share(ViewSteps(views), SIZES, is_jpeg)
    np.testing.assert_array_equal(shared[0], shared[1])
    return shared[0].tolist()


def test_overlapping_regions_are_decoded_once() -> None:
    assert groups(crop(0, 0, 900), crop(100, 50, 900), crop(400, 400, 200)) == [1, 1, 1]


def test_small_regions_far_apart_are_not() -> None:
    assert groups(crop(0, 0, 100), crop(900, 900, 100)) == [ALONE, ALONE]


def test_codes_of_a_jpeg_are_read_once_all_the_same() -> None:
    """They lie one after the other: the lower region cannot be reached but past the upper one."""
    assert groups(crop(800, 0, 100), crop(900, 100, 100), is_jpeg=YES) == [1, 1]


def test_one_view_needs_no_company() -> None:
    assert groups(crop(0, 0, 900)) == [ALONE]


def test_views_share_with_those_of_their_scale() -> None:
    two = np.full(2, 2)
    views = crop(0, 0, 900), crop(0, 0, 900, two), crop(50, 0, 900), crop(50, 0, 900, two)
    assert groups(*views) == [1, 2, 1, 2]
    assert groups(*views[:2]) == [ALONE, ALONE]


def test_what_is_read_contains_what_every_view_needs() -> None:
    steps = ViewSteps((crop(10, 20, 100), crop(500, 5, 30)))

    region = steps.regions(SIZES)

    assert [int(side[0]) for side in (region.top, region.left, region.bottom, region.right)] == [
        *(10, 5, 530, 120)
    ]
    assert (steps.pick(np.array([1])).views[0].table[:, 0, StepColumn.CROP_TOP] == 10).all()
