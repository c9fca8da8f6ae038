"""Resizing: sizes that cannot be, and boxes that do not fit."""

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws


def sizes_of(*sizes):
    return Sizes(*np.array(sizes, dtype=np.int64).T)


def draws_for(count, stream=0, first=0):
    return Draws(0, 0, np.arange(first, first + count), stream)


def test_resize_to_nothing_is_an_error():
    with pytest.raises(TransformError, match=r"Resize \(step 1\): sample 0 is 1x100 .* 0x10\."):
        T.Resize(None, max_size=10).sample(draws_for(1), sizes_of((1, 100)))


def test_resize_to_an_absurd_size_is_an_error():
    with pytest.raises(TransformError, match="would become 256x25600000"):
        T.Resize(256).sample(draws_for(1), sizes_of((1, 100_000)))


def test_resized_crop_takes_the_central_box_when_nothing_fits():
    """Twice the area never fits, so the box is the largest one within the ratio."""
    op = T.RandomResizedCrop(8, scale=(2.0, 2.0))
    crop, _ = op.sample(draws_for(3), sizes_of((30, 100), (100, 30), (50, 60)))

    assert crop.height.tolist() == [30, 40, 50]
    assert crop.width.tolist() == [40, 30, 60]
    assert crop.top.tolist() == [0, 30, 0]
    assert crop.left.tolist() == [30, 0, 0]


def test_resized_crop_of_one_pixel():
    crop, resize = T.RandomResizedCrop((3, 4)).sample(draws_for(50), sizes_of(*[(1, 1)] * 50))

    assert np.all(crop.height == 1)
    assert np.all(crop.width == 1)
    assert (resize.height[0], resize.width[0]) == (3, 4)


def test_resized_crop_without_any_possible_box_is_an_error():
    op = T.RandomResizedCrop(8, ratio=(50.0, 60.0))
    with pytest.raises(TransformError, match=r"sample 0 is 5x1 here and no box with ratio .* fits"):
        op.sample(draws_for(1), sizes_of((5, 1)))


def test_random_resize_gives_the_shorter_side_each_length_below_its_limit():
    count = 400
    sizes = Sizes(np.full(count, 40), np.full(count, 60))
    (move,) = T.RandomResize(10, 14).sample(Draws(0, 0, np.arange(count), 0), sizes)

    assert sorted(set(move.height.tolist())) == [10, 11, 12, 13]
    assert (move.width == move.height * 60 // 40).all()
