"""A resize of a part, lowered and run among other moves, gives the very bytes of Pillow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from native import run_natively
from penstock import CoreError
from penstock.transforms.moves import BoxResizeMove, CropMove, FlipMove

Box = tuple[float, float, float, float]
sides = st.integers(1, 40)
shares = st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)).map(sorted)


def noise(height: int, width: int) -> np.ndarray:
    """Pixels of an image."""
    return np.random.default_rng((height, width)).integers(0, 256, (height, width, 3), np.uint8)


def part_of(box: Box, height: int, width: int, filter: int) -> BoxResizeMove:
    """The resize of a part of one image."""
    return BoxResizeMove(np.array([height]), np.array([width]), filter, np.array([box]))


@settings(max_examples=150, deadline=None)
@given(
    given=st.tuples(sides, sides),
    wanted=st.tuples(sides, sides),
    across=shares,
    down=shares,
    filter=st.integers(1, 5),
    mirrored=st.booleans(),
)
def test_a_part_between_other_moves(given, wanted, across, down, filter, mirrored) -> None:
    """A crop before, a mirror before or after: the box is of what the resize sees."""
    height, width = given
    sides_px = (across[0] * width, down[0] * height, across[1] * width, down[1] * height)
    box = tuple(np.array(sides_px, np.float32).tolist())
    if not (box[0] < box[2] <= width and box[1] < box[3] <= height):
        return
    pixels = noise(height + 5, width + 3)
    crop = CropMove(np.array([2]), np.array([1]), np.array([height]), np.array([width]))
    flip = FlipMove(np.array([True]), np.array([False]))
    resize = part_of(box, *wanted, filter)
    moves = (crop, flip, resize) if mirrored else (crop, resize, flip)

    image = Image.fromarray(pixels).crop((1, 2, 1 + width, 2 + height))
    size = (wanted[1], wanted[0])
    turned = Image.Transpose.FLIP_LEFT_RIGHT
    if mirrored:
        expected = image.transpose(turned).resize(size, filter, box=box)
    else:
        expected = image.resize(size, filter, box=box).transpose(turned)
    np.testing.assert_array_equal(run_natively([pixels], moves)[0], np.asarray(expected))


def test_several_images_have_their_own_parts() -> None:
    """Also of a part to the size of the whole."""
    images = [noise(20, 30), noise(12, 12)]
    boxes = [(0.5, 1.25, 29.5, 20.0), (3.0, 3.0, 9.0, 9.0)]
    move = BoxResizeMove(np.array([20, 6]), np.array([30, 7]), 3, np.array(boxes))
    for got, image, box, size in zip(
        run_natively(images, [move]), images, boxes, [(30, 20), (7, 6)], strict=True
    ):
        expected = Image.fromarray(image).resize(size, 3, box=box)
        np.testing.assert_array_equal(got, np.asarray(expected))


def test_a_part_must_lie_within() -> None:
    """The core says so."""
    with pytest.raises(
        CoreError, match=r"the box from \(0.0+, 0.0+\) to \(31.0+, 20.0+\) does not"
    ):
        run_natively([noise(20, 30)], [part_of((0, 0, 31, 20), 5, 5, 2)])
    with pytest.raises(CoreError, match="a box is only for a smooth resize"):
        run_natively([noise(20, 30)], [part_of((0, 0, 30, 20), 5, 5, 0)])
