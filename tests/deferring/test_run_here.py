"""The core in this thread: what it takes, and what it refuses."""

import io

import numpy as np
import pytest
from PIL import Image

from penstock import _core
from penstock._core import (
    BatchBuffer,
    Element,
    Format,
    Programs,
    RowMemory,
    Status,
    StepColumn,
)
from penstock.errors import CoreError
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.transforms.effects import no_numbers

HEIGHT, WIDTH = 5, 7
PIXELS = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
NOTHING, ONE = [0.0] * 3, [1.0] * 3
SMALL = BatchBuffer.borrow(np.zeros(99, np.uint8))


def run_here(targets, sources, programs):
    """Nothing is known of files, and nothing is kept of them."""
    versions = np.zeros((len(targets), 4), np.uint64)
    return _core.run_here(targets, sources, programs, versions, RowMemory(0))


def nothing(count=1):
    """Programs that leave images as they are."""
    sizes = Sizes(np.full(count, HEIGHT), np.full(count, WIDTH))
    return lower((), sizes).programs()


def room():
    return np.zeros_like(PIXELS)


def test_targets_of_both_kinds_in_one_call():
    """One plane of a batch, and an array."""
    memory = np.zeros(HEIGHT * WIDTH * 4, dtype=np.uint8)
    halves = Format(Element.FLOAT32, "chw", 0.5, NOTHING, ONE, channels=1)
    place = BatchBuffer.borrow(memory), 0, halves
    array = room()

    status = run_here([place, array], [PIXELS, PIXELS], nothing(2))

    assert status == [Status.OK] * 2
    np.testing.assert_array_equal(array, PIXELS)
    expected = PIXELS[:, :, 0].astype(np.float32) / 2
    np.testing.assert_array_equal(memory.view(np.float32).reshape(HEIGHT, WIDTH), expected)


def test_a_file_that_ends_too_early_is_not_vouched_for():
    file = io.BytesIO()
    Image.fromarray(PIXELS.repeat(20, axis=0).repeat(20, axis=1)).save(file, "JPEG", quality=95)
    data = file.getvalue()
    whole = np.zeros((HEIGHT * 20, WIDTH * 20, 3), dtype=np.uint8)
    sizes = Sizes(np.array([HEIGHT * 20]), np.array([WIDTH * 20]))
    programs = lower((), sizes).programs()

    assert run_here([whole], [data], programs) == [Status.OK]
    cut = data[: len(data) // 2] + b"\xff\xd9"
    assert run_here([whole], [cut], programs) != [Status.OK]


@pytest.mark.parametrize(
    ("targets", "sources", "complaint"),
    [
        ([room()], [PIXELS, PIXELS], "a program and a version for each"),
        (
            [room(), room()],
            [PIXELS, PIXELS],
            "a program and a version for each",
        ),
        ([room()[:-1].copy()], [PIXELS], "an array of 4x7x3 was given for an image of 5x7x3"),
        ([room()], [PIXELS[:, :, :1].copy()], "a non-empty HxWx3 array"),
        ([room()], [b""], "one for Pillow"),
        ([room()], [b"no JPEG"], "one for Pillow"),
        (
            [(SMALL, 0, Format(Element.UINT8, "chw", 1, NOTHING, ONE))],
            [PIXELS],
            "lies outside the batch",
        ),
    ],
)
def test_what_does_not_fit_is_refused(targets, sources, complaint):
    with pytest.raises(CoreError, match=complaint):
        run_here(targets, sources, nothing())


@pytest.mark.parametrize(
    ("weights", "number", "complaint"),
    [
        (1, -1, "weights 1 are only for a resize"),
        (2, 0, "weights 2 are only for bilinear and bicubic resizes"),
        (3, 3, "weights 3 are only for bilinear and nearest resizes"),
        (9, 2, "weights 9 are unknown"),
    ],
)
def test_weights_are_checked(weights, number, complaint):
    row = [0] * len(StepColumn)
    row[StepColumn.CROP_HEIGHT], row[StepColumn.CROP_WIDTH] = HEIGHT, WIDTH
    row[StepColumn.WINDOW_HEIGHT], row[StepColumn.WINDOW_WIDTH] = HEIGHT, WIDTH
    row[StepColumn.RESIZE_HEIGHT], row[StepColumn.RESIZE_WIDTH] = HEIGHT, WIDTH
    row[StepColumn.FILTER], row[StepColumn.DCT_SCALE] = number, 1
    row[StepColumn.WEIGHTS] = weights
    count = np.ones(1, dtype=np.int32)
    rest = np.zeros((0, 6), dtype=np.int32), no_numbers(0), np.zeros(1, dtype=np.int32)
    programs = Programs(np.array([[row]], dtype=np.int32), count, *rest)

    with pytest.raises(CoreError, match=complaint):
        run_here([room()], [PIXELS], programs)


@pytest.mark.parametrize(("channels", "layout"), [(2, "chw"), (1, "hwc")])
def test_channels_are_checked(channels, layout):
    with pytest.raises(CoreError, match=f"got {channels} with '{layout}'"):
        Format(Element.UINT8, layout, 1, NOTHING, ONE, channels=channels)
