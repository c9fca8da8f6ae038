"""Crops, borders and mirrors: what is drawn how often, and images that are too small."""

import re

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Size, Sizes
from penstock.rng import Draws
from penstock.transforms.moves import CropMove, out_sizes


def sizes_of(*sizes):
    return Sizes(*np.array(sizes, dtype=np.int64).T)


def draws_for(count, stream=0, first=0):
    return Draws(0, 0, np.arange(first, first + count), stream)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", [T.RandomHorizontalFlip, T.RandomVerticalFlip])
def test_flips_happen_as_often_as_asked(kind, p):
    count = 20_000
    (move,) = kind(p).sample(draws_for(count), sizes_of(*[(4, 4)] * count))
    asked, other = (
        (move.horizontal, move.vertical)
        if kind is T.RandomHorizontalFlip
        else (move.vertical, move.horizontal)
    )

    assert abs(asked.mean() - p) <= 4 * np.sqrt(p * (1 - p) / count)
    assert not other.any()


def test_random_crop_reaches_every_place_equally_often():
    count = 20_000
    (crop,) = T.RandomCrop((3, 5)).sample(draws_for(count), sizes_of(*[(6, 9)] * count))
    places = np.bincount(crop.top * 5 + crop.left, minlength=20)

    assert len(places) == 20
    assert ((places - 1000) ** 2 / 1000).sum() < 51  # 19 degrees of freedom: once in 10,000


def test_random_crop_of_the_whole_image_has_one_place():
    (crop,) = T.RandomCrop((6, 9)).sample(draws_for(1), sizes_of((6, 9)))

    assert (crop.top[0], crop.left[0]) == (0, 0)


def test_random_crop_names_the_image_that_is_too_small():
    message = (
        "RandomCrop (step 3): sample 41 is 240x320 here but the crop is 256x256. "
        "Resize first, or set pad_if_needed=True."
    )
    with pytest.raises(TransformError, match=re.escape(message)):
        T.RandomCrop(256).sample(draws_for(2, stream=2, first=40), sizes_of((256, 300), (240, 320)))


def test_random_crop_counts_padding_as_room():
    moves = T.RandomCrop(10, padding=3).sample(draws_for(1), sizes_of((4, 8)))

    assert out_sizes(moves, sizes_of((4, 8)))[0] == Size(10, 10)


def test_center_crop_pads_only_if_an_image_needs_it():
    moves = T.CenterCrop(4).sample(draws_for(2), sizes_of((4, 9), (7, 4)))

    assert [type(move) for move in moves] == [CropMove]


def test_negative_padding_must_leave_something():
    message = re.escape(
        "Pad (step 1): sample 0 is 6x9 here and negative padding cuts away all of it"
    )
    with pytest.raises(TransformError, match=message):
        T.Pad(-3).sample(draws_for(1), sizes_of((6, 9)))


@pytest.mark.parametrize(
    "op",
    [
        T.Resize(4),
        T.Resize((4, 5)),
        T.CenterCrop(3),
        T.RandomCrop(3),
        T.Pad(2),
        T.RandomResizedCrop(3),
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
    ],
)
def test_an_empty_batch_is_no_trouble(op):
    nothing = Sizes(np.empty(0, np.int64), np.empty(0, np.int64))
    moves = op.sample(draws_for(0), nothing)

    assert len(out_sizes(moves, nothing)) == 0
